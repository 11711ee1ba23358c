// A command in the folder of scenes (common_scene.h), and what it leaves there.
#ifndef WEFT_TEST_COMMON_COMMAND_H
#define WEFT_TEST_COMMON_COMMAND_H

// Runs the program in the folder with arguments as a shell takes them; what it says goes to the file `output` there.
void command_succeeds(const char* program, const char* arguments);
void command_fails(const char* program, const char* arguments, const char* word); // and says that word

void assert_same_file(const char* a, const char* b, const char* file); // of two folders in the folder
void assert_file_has(const char* file, const char* word);

#endif
