/*
 * client_rows.c - prints the rows of the tables of clients: "agent sample=HZ", "java alloc=BYTES", "word wall"; and "run heap=BYTES", the option of
 * `waymark run`, which may take more than the agent's row.
 */
#include <stdio.h>

#include "waymark/agent.h"
#include "waymark/jvm.h"

#define AGENT_ROW(name, argument, least, most, preset, asks, run_argument, ...) \
	printf("agent %s%s\nrun %s%s\n", #name, argument, #name, run_argument);
#define JAVA_ROW(name, argument, ...)                       \
	{                                                   \
		const char *of = argument;                  \
                                                            \
		printf("java %s%s\n", #name, of ? of : ""); \
	}
#define JAVA_SHARED(...)
#define WORD_ROW(name, member) printf("word %s\n", #name);

int main(void)
{
	WM1_AGENT_CLIENTS(AGENT_ROW)
	WM1_JVM_CLIENTS(JAVA_ROW, JAVA_SHARED)
	WM1_AGENT_SETTINGS(WORD_ROW)
	return 0;
}
