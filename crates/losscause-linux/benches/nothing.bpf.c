// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does nothing where `watch` looks at every packet: what the kernel counts for it is the price of being called and timed.
 * With LOOKUP it looks for the storage of the connection, as any program must that keeps something of each.
 */
#define SEC(name) __attribute__((section(name), used))

char LICENSE[] SEC("license") = "GPL";

#ifdef LOOKUP
static void *(*const bpf_sk_storage_get)(void *map, void *sk, void *value, unsigned long long flags) = (void *)107;

struct {
	int (*type)[24]; /* BPF_MAP_TYPE_SK_STORAGE */
	int (*map_flags)[1]; /* BPF_F_NO_PREALLOC */
	int *key;
	long *value;
} kept SEC(".maps");
#endif

SEC("tp_btf/tcp_probe")
int nothing(unsigned long long *ctx)
{
#ifdef LOOKUP
	long *value = bpf_sk_storage_get(&kept, (void *)ctx[0], 0, 1 /* create it */);

	if (value)
		*value += 1;
#endif
	return 0;
}
