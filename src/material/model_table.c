// The table of cloth models: what scene files, the command line and tests loop over. The first is the default.
#include "material/material.h"

extern const cloth_model model_baraff_witkin, model_hooke, model_corotated, model_choi_ko;

const cloth_model* const model_table[] = {&model_baraff_witkin, &model_hooke, &model_corotated, &model_choi_ko, NULL};
