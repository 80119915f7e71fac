/* unseen_exec.c - looks symbols up that such programs export. */
#include "native/unseen_exec.h"

#include <dlfcn.h>
#include <stddef.h>

bool unseen_exec(void)
{
	static const char *const symbols[] = {
		"qemu_plugin_register_vcpu_tb_trans_cb", /* for plugins of qemu */
		"_cgo_topofstack",                       /* for C code of Go programs */
	};

	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
		if (dlsym(RTLD_DEFAULT, symbols[i]))
			return true;
	return false;
}
