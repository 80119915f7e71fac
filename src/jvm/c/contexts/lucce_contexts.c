/* lucce_contexts.c - one graph, its history, and the numbers of methods and calls in it, under one lock. */
#include "jvm/c/contexts/lucce_contexts.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hashmap.h"
#include "core/contexts/lucce_history.h"
#include "jvm/c/contexts/contexts.h"
#include "jvm/c/codes/methods.h"

enum {
	MAX_CALLS = 1 << 24,    /* of a context */
	MAX_VERSIONS = 1 << 23, /* some 500 MB of history */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lucce graph;
static struct lucce_history history;
/* Methods to functions, less 1: function 0 is the root. Sites and methods to edges. */
static struct hashmap functions, edges;

bool jvm_lucce_init(void)
{
	const struct lucce_limits limits = {.max_version = MAX_VERSIONS};
	struct error *err = lucce_init(&graph, NULL, &limits);

	if (!err)
		err = lucce_history_init(&history, NULL, 0);
	error_destroy(err);
	return !err;
}

/* ---- under the lock ---- */

/* The events since the last time go into the history. Should that fail, contexts of their versions do not decode. */
static void take_log(void)
{
	size_t taken = 0;

	while (taken < graph.log.count) {
		struct error *err = lucce_history_add(&history, &graph.log.items[taken]);

		if (err) {
			error_destroy(err);
			break;
		}
		taken++;
	}
	lucce_take(&graph, taken);
}

static struct error *function_of(int32_t method, uint32_t *ret)
{
	const struct key key = {{(uint64_t)method}};
	struct error *err;

	if (method == JVM_NONE) {
		*ret = LUCCE_ROOT;
		return NULL;
	}
	if (hashmap_find(&functions, &key, ret)) {
		++*ret;
		return NULL;
	}
	err = lucce_add_node(&graph, ret);
	return err ? err : hashmap_add(&functions, &key, &(uint32_t){0});
}

static struct error *edge_of(int32_t site, int32_t method, uint32_t *ret)
{
	const struct key key = {{(uint64_t)site, (uint64_t)method}};
	uint32_t caller, callee;
	struct error *err;

	if (hashmap_find(&edges, &key, ret))
		return NULL;
	err = function_of(jvm_site_method(site), &caller);
	if (!err)
		err = function_of(method, &callee);
	if (!err)
		err = lucce_add_edge(&graph, caller, callee, (uint32_t)site, ret);
	return err ? err : hashmap_add(&edges, &key, &(uint32_t){0});
}

/* A number that the map did not take would be given to another call: from there on nothing is known. */
static uint32_t known_edge(int32_t site, int32_t method)
{
	static bool is_broken;
	uint32_t ret = LUCCE_NO_EDGE;
	struct error *err = is_broken ? NULL : edge_of(site, method, &ret);

	is_broken |= err || functions.count + 1 != graph.nodes.count || edges.count != graph.edges.count;
	error_destroy(err);
	return is_broken ? LUCCE_NO_EDGE : ret;
}

static int32_t *sites_of(const struct callgraph_edges *calls, int32_t own, size_t *count)
{
	int32_t *ret = malloc((calls->count + 1) * sizeof *ret);

	*count = 0;
	for (size_t i = 0; ret && i < calls->count; i++) {
		int32_t site = (int32_t)graph.edges.items[calls->items[i]].site;

		/* The edge to a thread's first method has no site. */
		if (site != JVM_NONE)
			ret[(*count)++] = site;
	}
	if (ret)
		ret[(*count)++] = own;
	return ret;
}

/* ---- ---- */

struct lucce_step jvm_lucce_enter(struct jvm_lucce_call call, int32_t method)
{
	struct lucce_step ret;

	pthread_mutex_lock(&lock);
	ret = lucce_enter(&graph, known_edge(call.site, method), call.from);
	take_log();
	pthread_mutex_unlock(&lock);
	return ret;
}

int32_t *jvm_lucce_sites(struct jvm_lucce_call call, size_t *count)
{
	struct callgraph_edges calls = {0};
	uint32_t function = 0;
	int32_t *ret = NULL;
	struct error *err;

	*count = 0;
	pthread_mutex_lock(&lock);
	err = function_of(jvm_site_method(call.site), &function);
	if (!err)
		err = lucce_decode(&history, function, call.from, MAX_CALLS, &calls);
	if (!err)
		ret = sites_of(&calls, call.site, count);
	pthread_mutex_unlock(&lock);
	error_destroy(err);
	callgraph_edges_deinit(&calls);
	return ret;
}

wm_context jvm_lucce_context(uint32_t root, struct jvm_lucce_call call)
{
	wm_context ret = {.epoch = JVM_EPOCH, .prefix = WM_PREFIX_LOST};
	size_t count = 0;
	int32_t *sites = call.site == JVM_NONE ? NULL : jvm_lucce_sites(call, &count);

	if (sites || call.site == JVM_NONE)
		ret = jvm_context_of_sites(root, sites, count);
	free(sites);
	return ret;
}

/* In the versions of now: the calls that lead there, made once more. */
struct jvm_lucce_call jvm_lucce_without_last(struct jvm_lucce_call call)
{
	size_t count;
	int32_t *sites = jvm_lucce_sites(call, &count);
	struct jvm_lucce_call ret = {JVM_NONE, {0, sites ? 0 : LUCCE_LOST}};

	for (size_t i = 0; sites && i + 1 < count; i++) {
		const struct lucce_step step = jvm_lucce_enter(ret, jvm_site_method(sites[i]));

		ret = (struct jvm_lucce_call){sites[i], lucce_step_to(&step, ret.from)};
	}
	free(sites);
	return ret;
}

uint64_t jvm_lucce_lost(void)
{
	uint64_t ret = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < LUCCE_LOSSES; i++)
		ret += i == LUCCE_LOST_CALLER ? 0 : graph.lost[i];
	pthread_mutex_unlock(&lock);
	return ret;
}
