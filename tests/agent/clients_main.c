/* clients_main.c - main of clients.c, which may be in a shared library. The argument says what to do: s signals, t threads. */
#ifdef __cplusplus
extern "C"
#endif
	int
	run(const char *what);

int main(int argc, char **argv)
{
	return run(argc > 1 ? argv[1] : "") != 0;
}
