// The scenes that ship, for `weft list scenes` and for suggestions.
#ifndef WEFT_SCENE_LIST_H
#define WEFT_SCENE_LIST_H

int scene_list_count(void);
const char* scene_list_name(int index);    // static
const char* scene_list_summary(int index); // the first sentence of the scene's description; static

#endif
