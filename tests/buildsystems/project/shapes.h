/* shapes.h - the libraries of the small project that tests/buildsystems builds. */
#ifndef SHAPES_H
#define SHAPES_H

#ifdef __cplusplus
extern "C" {
#endif

/* static library: calls visit(i) for i below count */
void each(int count, void (*visit)(int i));
/* shared library: prints `name`, and a token of this point */
void tell(const char *name);

#ifdef __cplusplus
}
#endif
#endif
