// Settings of methods against --resume, for every method of the table that a test links.
#ifndef WEFT_TEST_COMMON_SETTINGS_H
#define WEFT_TEST_COMMON_SETTINGS_H

// Runs the scene with each method that has settings, then resumes with another value of each of them, which must be
// refused; the same ones, and other values for methods that take no part, go on. Returns the number of settings.
int settings_resume(const char* scene_text);

#endif
