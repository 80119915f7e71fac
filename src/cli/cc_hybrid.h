/*
 * cc_hybrid.h - links of a program with hybrid encoding (--wm-hybrid): several, since the sizes of frames are known when the code is.
 */
#ifndef WM_CLI_CC_HYBRID_H
#define WM_CLI_CC_HYBRID_H

/*
 * Runs the compiler with these words, NULL at the end, until the sizes of frames that the pass has assumed are those of the program that it made;
 * output names that. Returns an exit status. command: for messages, which say why the program has the ordinary encoding if it has.
 */
int cc_hybrid_link(const char *command, char **words, const char *output);

#endif
