"""Linux's native keys that hold one integer, as data.

Sources as in :mod:`hostcfg.platforms.linux.native_keys`.
"""

from __future__ import annotations

# Directory below /proc/sys -> the names in it that hold one integer; "*" is an interface, a CPU or
# a scheduling domain.
INTS: dict[str, str] = {
    "abi": "vsyscall32",
    "crypto": "fips_enabled",
    "debug": "exception-trace kprobes-optimization",
    "dev.cdrom": "autoclose autoeject check_media debug lock",
    "dev.hpet": "max-user-freq",
    "dev.mac_hid": "mouse_button2_keycode mouse_button3_keycode mouse_button_emulation",
    "dev.raid": "speed_limit_max speed_limit_min",
    "dev.scsi": "logging_level",
    "dev.tty": "ldisc_autoload legacy_tiocsti",
    "fs": (
        "aio-max-nr aio-nr dentry-negative dir-notify-enable dquot-max dquot-nr file-max inode-max "
        "lease-break-time leases-enable mount-max nr_open overflowgid overflowuid pipe-max-size "
        "pipe-user-pages-hard pipe-user-pages-soft protected_fifos protected_hardlinks protected_regular "
        "protected_symlinks suid_dumpable super-max super-nr"
    ),
    "fs.epoll": "max_user_watches",
    "fs.fanotify": "max_queued_events max_user_groups max_user_marks watchdog_timeout",
    "fs.fuse": "default_request_timeout max_pages_limit max_request_timeout",
    "fs.inotify": "max_queued_events max_user_instances max_user_watches",
    "fs.mqueue": "msg_default msg_max msgsize_default msgsize_max queues_max",
    "fs.quota": "allocated_dquots cache_hits drops free_dquots lookups reads syncs warnings writes",
    "fs.verity": "require_signatures",
    "fs.xfs": (
        "error_level filestream_centisecs inherit_noatime inherit_nodefrag inherit_nodump "
        "inherit_nosymlinks inherit_sync irix_sgid_inherit irix_symlink_mode panic_mask rotorstep "
        "speculative_cow_prealloc_lifetime speculative_prealloc_lifetime stats_clear xfssyncd_centisecs"
    ),
    "kernel": (
        "acpi_video_flags apparmor_display_secid_mode apparmor_restrict_unprivileged_userns auto_msgmni "
        "bootloader_type bootloader_version bpf_stats_enabled cad_pid cap_last_cap "
        "core_file_note_size_limit core_pipe_limit core_sort_vma core_uses_pid ctrl-alt-del "
        "dmesg_restrict exec-shield ftrace_enabled hardlockup_all_cpu_backtrace hardlockup_panic "
        "hung_task_all_cpu_backtrace hung_task_check_count hung_task_check_interval_secs "
        "hung_task_detect_count hung_task_panic hung_task_timeout_secs hung_task_warnings "
        "hyperv_record_panic_msg io_delay_type io_uring_disabled io_uring_group kexec_load_disabled "
        "kexec_load_limit_panic kexec_load_limit_reboot kptr_restrict latencytop max_lock_depth "
        "max_rcu_stall_to_panic modules_disabled msg_next_id msgmax msgmnb msgmni ngroups_max "
        "nmi_watchdog nmi_wd_lpm_factor ns_last_pid numa_balancing numa_balancing_promote_rate_limit_MBps "
        "numa_balancing_scan_delay_ms numa_balancing_scan_period_max_ms numa_balancing_scan_period_min_ms "
        "numa_balancing_scan_size_mb oops_all_cpu_backtrace oops_limit overflowgid overflowuid panic "
        "panic_on_io_nmi panic_on_oops panic_on_rcu_stall panic_on_stackoverflow panic_on_unrecovered_nmi "
        "panic_on_warn panic_print perf_cpu_time_max_percent perf_event_max_contexts_per_stack "
        "perf_event_max_sample_rate perf_event_max_stack perf_event_mlock_kb perf_event_paranoid "
        "perf_user_access pid_max print-fatal-signals printk_delay printk_ratelimit "
        "printk_ratelimit_burst randomize_va_space real-root-dev sched_autogroup_enabled "
        "sched_cfs_bandwidth_slice_us sched_child_runs_first sched_compat_yield "
        "sched_deadline_period_max_us sched_deadline_period_min_us sched_energy_aware sched_latency_ns "
        "sched_migration_cost_ns sched_min_granularity_ns sched_nr_migrate sched_rr_timeslice_ms "
        "sched_rt_period_us sched_rt_runtime_us sched_schedstats sched_shares_window_ns sched_time_avg_ms "
        "sched_tunable_scaling sched_util_clamp_max sched_util_clamp_min sched_util_clamp_min_rt_default "
        "sched_wakeup_granularity_ns sem_next_id sg-big-buff shm_next_id shm_rmid_forced shmall shmmax "
        "shmmni soft_watchdog softlockup_all_cpu_backtrace softlockup_panic softlockup_thresh "
        "split_lock_mitigate stack_tracer_enabled suid_dumpable sysctl_writes_strict sysrq tainted "
        "task_delayacct threads-max timer_migration traceoff_on_warning tracepoint_printk "
        "unknown_nmi_panic unprivileged_bpf_disabled unprivileged_userns_apparmor_policy "
        "unprivileged_userns_clone vsyscall64 warn_limit watchdog watchdog_thresh"
    ),
    "kernel.firmware_config": "force_sysfs_fallback ignore_sysfs_fallback",
    "kernel.keys": "gc_delay maxbytes maxkeys persistent_keyring_expiry root_maxbytes root_maxkeys",
    "kernel.pty": "max nr reserve",
    "kernel.random": (
        "entropy_avail poolsize read_wakeup_threshold urandom_min_reseed_secs write_wakeup_threshold"
    ),
    "kernel.sched_domain.*": (
        "busy_factor busy_idx cache_nice_tries forkexec_idx idle_idx imbalance_pct max_interval "
        "max_newidle_lb_cost min_interval newidle_idx wake_idx"
    ),
    "kernel.spl.kmem": (
        "slab_kmem_alloc slab_kmem_max slab_kmem_total slab_vmem_alloc slab_vmem_max slab_vmem_total"
    ),
    "kernel.yama": "ptrace_scope",
    "net": "nf_conntrack_max",
    "net.bridge": (
        "bridge-nf-call-arptables bridge-nf-call-ip6tables bridge-nf-call-iptables "
        "bridge-nf-filter-pppoe-tagged bridge-nf-filter-vlan-tagged bridge-nf-pass-vlan-input-dev"
    ),
    "net.core": (
        "bpf_jit_enable bpf_jit_harden bpf_jit_kallsyms bpf_jit_limit busy_poll busy_read bypass_prot_mem "
        "dev_weight dev_weight_rx_bias dev_weight_tx_bias devconf_inherit_init_net divert_version "
        "fb_tunnels_only_for_init_net flow_limit_table_len gro_normal_batch high_order_alloc_disable "
        "hot_list_length lro_flush max_skb_frags mem_pcpu_rsv message_burst message_cost netdev_budget "
        "netdev_budget_usecs netdev_max_backlog netdev_tstamp_prequeue netdev_unregister_timeout_secs "
        "optmem_max qdisc_max_burst rmem_default rmem_max rps_sock_flow_entries skb_defer_max somaxconn "
        "tstamp_allow_data txq_reselection_ms txrehash warnings wmem_default wmem_max xfrm_acq_expires "
        "xfrm_aevent_etime xfrm_aevent_rseqth xfrm_larval_drop"
    ),
    "net.ipv4": (
        "cipso_cache_bucket_size cipso_cache_enable cipso_rbm_optfmt cipso_rbm_strictvalid "
        "cipso_rbm_structvalid fib_multipath_hash_fields fib_multipath_hash_policy "
        "fib_multipath_hash_seed fib_multipath_use_neigh fib_notify_on_flag_change fib_sync_mem "
        "fwmark_reflect icmp_echo_enable_probe icmp_echo_ignore_all icmp_echo_ignore_broadcasts "
        "icmp_echoreply_rate icmp_errors_extension_mask icmp_errors_use_inbound_ifaddr "
        "icmp_ignore_bogus_error_responses icmp_msgs_burst icmp_msgs_per_sec icmp_ratelimit icmp_ratemask "
        "igmp_link_local_mcast_reports igmp_max_memberships igmp_max_msf igmp_qrv inet_peer_maxttl "
        "inet_peer_minttl inet_peer_threshold ip_always_defrag ip_autobind_reuse ip_conntrack_max "
        "ip_default_ttl ip_dynaddr ip_early_demux ip_forward ip_forward_update_priority "
        "ip_forward_use_pmtu ip_local_port_step_width ip_no_pmtu_disc ip_nonlocal_bind "
        "ip_unprivileged_port_start ipfrag_high_thresh ipfrag_low_thresh ipfrag_max_dist "
        "ipfrag_secret_interval ipfrag_time nexthop_compat_mode raw_l3mdev_accept tcp_abc "
        "tcp_abort_on_overflow tcp_adv_win_scale tcp_app_win tcp_autocorking tcp_backlog_ack_defer "
        "tcp_base_mss tcp_bic tcp_bic_low_window tcp_challenge_ack_limit tcp_child_ehash_entries "
        "tcp_collapse_max_bytes tcp_comp_sack_delay_ns tcp_comp_sack_nr tcp_comp_sack_rtt_percent "
        "tcp_comp_sack_slack_ns tcp_cookie_size tcp_default_init_rwnd tcp_delack_seg tcp_dma_copybreak "
        "tcp_dsack tcp_early_demux tcp_early_retrans tcp_ecn tcp_ecn_fallback tcp_ecn_option "
        "tcp_ecn_option_beacon tcp_ehash_entries tcp_fack tcp_fastopen tcp_fastopen_blackhole_timeout_sec "
        "tcp_fin_timeout tcp_frto tcp_frto_response tcp_fwmark_accept tcp_ignore_invalid_rst "
        "tcp_init_cwnd tcp_initial_rto tcp_invalid_ratelimit tcp_keepalive_intvl tcp_keepalive_probes "
        "tcp_keepalive_time tcp_l3mdev_accept tcp_limit_output_bytes tcp_low_latency tcp_max_orphans "
        "tcp_max_reordering tcp_max_ssthresh tcp_max_syn_backlog tcp_max_tw_buckets tcp_migrate_req "
        "tcp_min_rtt_wlen tcp_min_snd_mss tcp_min_tso_segs tcp_moderate_rcvbuf tcp_mtu_probe_floor "
        "tcp_mtu_probing tcp_no_metrics_save tcp_no_ssthresh_metrics_save tcp_nometrics_save "
        "tcp_notsent_lowat tcp_orphan_retries tcp_pacing_ca_ratio tcp_pacing_ss_ratio tcp_pingpong_thresh "
        "tcp_plb_cong_thresh tcp_plb_enabled tcp_plb_idle_rehash_rounds tcp_plb_rehash_rounds "
        "tcp_plb_suspend_rto_sec tcp_probe_interval tcp_probe_threshold tcp_rcvbuf_low_rtt tcp_recovery "
        "tcp_reflect_tos tcp_reordering tcp_retrans_collapse tcp_retries1 tcp_retries2 tcp_rfc1337 "
        "tcp_rto_max_ms tcp_rto_min_us tcp_rx_skb_cache tcp_sack tcp_shrink_window "
        "tcp_slow_start_after_idle tcp_stdurg tcp_syn_linear_timeouts tcp_syn_retries tcp_synack_retries "
        "tcp_syncookies tcp_thin_dupack tcp_thin_linear_timeouts tcp_timestamps tcp_tso_rtt_log "
        "tcp_tso_win_divisor tcp_tw_recycle tcp_tw_reuse tcp_tw_reuse_delay tcp_tw_timeout "
        "tcp_tx_skb_cache tcp_use_userconfig tcp_vegas_cong_avoid tcp_westwood tcp_window_scaling "
        "tcp_workaround_signed_windows udp_child_hash_entries udp_early_demux udp_hash_entries "
        "udp_l3mdev_accept udp_rmem_min udp_wmem_min xfrm4_gc_thresh"
    ),
    "net.ipv4.conf.*": (
        "accept_local accept_redirects accept_source_route arp_accept arp_announce arp_evict_nocarrier "
        "arp_filter arp_ignore arp_notify bc_forwarding bootp_relay disable_policy disable_xfrm "
        "drop_gratuitous_arp drop_unicast_in_l2_multicast force_igmp_version forwarding "
        "igmpv2_unsolicited_report_interval igmpv3_unsolicited_report_interval "
        "ignore_routes_with_linkdown log_martians mc_forwarding medium_id promote_secondaries proxy_arp "
        "proxy_arp_pvlan route_localnet rp_filter secure_redirects send_redirects shared_media "
        "src_valid_mark tag"
    ),
    "net.ipv4.neigh.*": (
        "anycast_delay app_solicit base_reachable_time base_reachable_time_ms delay_first_probe_time "
        "gc_interval gc_stale_time gc_thresh1 gc_thresh2 gc_thresh3 interval_probe_time_ms locktime "
        "mcast_resolicit mcast_solicit proxy_delay proxy_qlen retrans_time retrans_time_ms ucast_solicit "
        "unres_qlen unres_qlen_bytes"
    ),
    "net.ipv4.route": (
        "error_burst error_cost gc_elasticity gc_interval gc_min_interval gc_min_interval_ms gc_thresh "
        "gc_timeout max_size min_adv_mss min_pmtu mtu_expires redirect_load redirect_number "
        "redirect_silence"
    ),
    "net.ipv4.vs": (
        "am_droprate amemthresh backup_only cache_bypass conn_reuse_mode conntrack drop_entry drop_packet "
        "expire_nodest_conn expire_quiescent_template ignore_tunneled nat_icmp_send pmtu_disc "
        "schedule_icmp secure_tcp sloppy_sctp sloppy_tcp snat_reroute sync_persist_mode sync_ports "
        "sync_qlen_max sync_refresh_period sync_retries sync_sock_size sync_version"
    ),
    "net.ipv6": (
        "anycast_src_echo_reply auto_flowlabels bindv6only calipso_cache_bucket_size calipso_cache_enable "
        "fib_multipath_hash_fields fib_multipath_hash_policy fib_multipath_hash_seed "
        "fib_notify_on_flag_change flowlabel_consistency flowlabel_reflect flowlabel_state_ranges "
        "fwmark_reflect idgen_delay idgen_retries ioam6_id ioam6_id_wide ip6frag_high_thresh "
        "ip6frag_low_thresh ip6frag_secret_interval ip6frag_time ip_nonlocal_bind max_dst_opts_length "
        "max_dst_opts_number max_hbh_length max_hbh_opts_number mld_max_msf mld_qrv seg6_flowlabel "
        "xfrm6_gc_thresh"
    ),
    "net.ipv6.conf.*": (
        "accept_dad accept_ra accept_ra_defrtr accept_ra_from_local accept_ra_min_hop_limit "
        "accept_ra_min_lft accept_ra_mtu accept_ra_pinfo accept_ra_rt_info_max_plen "
        "accept_ra_rt_info_min_plen accept_ra_rtr_pref accept_redirects accept_source_route "
        "accept_untracked_na addr_gen_mode autoconf dad_transmits disable_ipv6 disable_policy "
        "drop_unicast_in_l2_multicast drop_unsolicited_na enhanced_dad force_forwarding force_mld_version "
        "force_tllao forwarding hop_limit ignore_routes_with_linkdown ioam6_enabled ioam6_id "
        "ioam6_id_wide keep_addr_on_down max_addresses max_desync_factor mc_forwarding "
        "mldv1_unsolicited_report_interval mldv2_unsolicited_report_interval mtu ndisc_evict_nocarrier "
        "ndisc_notify ndisc_tclass optimistic_dad proxy_ndp ra_defrtr_metric ra_honor_pio_life "
        "ra_honor_pio_pflag regen_max_retry regen_min_advance router_probe_interval "
        "router_solicitation_delay router_solicitation_interval router_solicitation_max_interval "
        "router_solicitations rpl_seg_enabled seg6_enabled seg6_require_hmac suppress_frag_ndisc "
        "temp_prefered_lft temp_valid_lft use_oif_addrs_only use_optimistic use_tempaddr"
    ),
    "net.ipv6.icmp": (
        "echo_ignore_all echo_ignore_anycast echo_ignore_multicast error_anycast_as_unicast "
        "errors_extension_mask ratelimit"
    ),
    "net.ipv6.neigh.*": (
        "anycast_delay app_solicit base_reachable_time base_reachable_time_ms delay_first_probe_time "
        "gc_interval gc_stale_time gc_thresh1 gc_thresh2 gc_thresh3 interval_probe_time_ms locktime "
        "mcast_resolicit mcast_solicit proxy_delay proxy_qlen retrans_time retrans_time_ms ucast_solicit "
        "unres_qlen unres_qlen_bytes"
    ),
    "net.ipv6.route": (
        "gc_elasticity gc_interval gc_min_interval gc_min_interval_ms gc_thresh gc_timeout max_size "
        "min_adv_mss mtu_expires skip_notify_on_dev_down"
    ),
    "net.mpls": "default_ttl ip_ttl_propagate platform_labels",
    "net.mptcp": (
        "add_addr_timeout add_addr_v6_port_drop_ts allow_join_initial_addr_port blackhole_timeout "
        "checksum_enabled close_timeout enabled pm_type stale_loss_cnt syn_retrans_before_tcp_fallback"
    ),
    "net.netfilter": (
        "nf_conntrack_acct nf_conntrack_buckets nf_conntrack_checksum nf_conntrack_count "
        "nf_conntrack_dccp_loose nf_conntrack_dccp_timeout_closereq nf_conntrack_dccp_timeout_closing "
        "nf_conntrack_dccp_timeout_open nf_conntrack_dccp_timeout_partopen "
        "nf_conntrack_dccp_timeout_request nf_conntrack_dccp_timeout_respond "
        "nf_conntrack_dccp_timeout_timewait nf_conntrack_events nf_conntrack_events_retry_timeout "
        "nf_conntrack_expect_max nf_conntrack_frag6_high_thresh nf_conntrack_frag6_low_thresh "
        "nf_conntrack_frag6_timeout nf_conntrack_generic_timeout nf_conntrack_gre_timeout "
        "nf_conntrack_gre_timeout_stream nf_conntrack_helper nf_conntrack_icmp_timeout "
        "nf_conntrack_icmpv6_timeout nf_conntrack_log_invalid nf_conntrack_max "
        "nf_conntrack_sctp_timeout_closed nf_conntrack_sctp_timeout_cookie_echoed "
        "nf_conntrack_sctp_timeout_cookie_wait nf_conntrack_sctp_timeout_established "
        "nf_conntrack_sctp_timeout_heartbeat_acked nf_conntrack_sctp_timeout_heartbeat_sent "
        "nf_conntrack_sctp_timeout_shutdown_ack_sent nf_conntrack_sctp_timeout_shutdown_recd "
        "nf_conntrack_sctp_timeout_shutdown_sent nf_conntrack_skip_filter nf_conntrack_tcp_be_liberal "
        "nf_conntrack_tcp_ignore_invalid_rst nf_conntrack_tcp_loose nf_conntrack_tcp_max_retrans "
        "nf_conntrack_tcp_no_window_check nf_conntrack_tcp_timeout_close "
        "nf_conntrack_tcp_timeout_close_wait nf_conntrack_tcp_timeout_established "
        "nf_conntrack_tcp_timeout_fin_wait nf_conntrack_tcp_timeout_last_ack "
        "nf_conntrack_tcp_timeout_max_retrans nf_conntrack_tcp_timeout_syn_recv "
        "nf_conntrack_tcp_timeout_syn_sent nf_conntrack_tcp_timeout_time_wait "
        "nf_conntrack_tcp_timeout_unacknowledged nf_conntrack_timestamp nf_conntrack_udp_timeout "
        "nf_conntrack_udp_timeout_stream nf_flowtable_tcp_timeout nf_flowtable_udp_timeout "
        "nf_hooks_lwtunnel nf_log_all_netns"
    ),
    "net.sctp": (
        "addip_enable addip_noauth_enable addr_scope_policy association_max_retrans auth_enable "
        "cookie_preserve_enable default_auto_asconf ecn_enable encap_port hb_interval intl_enable "
        "l3mdev_accept max_autoclose max_burst max_init_retransmits path_max_retrans pf_enable pf_expose "
        "pf_retrans plpmtud_probe_interval prsctp_enable ps_retrans rcvbuf_policy reconf_enable "
        "rto_alpha_exp_divisor rto_beta_exp_divisor rto_initial rto_max rto_min rwnd_update_shift "
        "sack_timeout sndbuf_policy udp_port valid_cookie_life"
    ),
    "net.unix": "max_dgram_qlen",
    "sunrpc": (
        "max_resvport min_resvport rdma_inline_write_padding rdma_max_inline_read rdma_max_inline_write "
        "rdma_memreg_strategy rdma_pad_optimize rdma_slot_table_entries tcp_fin_timeout "
        "tcp_max_slot_table_entries tcp_slot_table_entries udp_slot_table_entries"
    ),
    "sunrpc.svc_rdma": (
        "max_outbound_read_requests max_req_size max_requests rdma_stat_read rdma_stat_recv "
        "rdma_stat_rq_poll rdma_stat_rq_prod rdma_stat_rq_starve rdma_stat_sq_poll rdma_stat_sq_prod "
        "rdma_stat_sq_starve rdma_stat_write"
    ),
    "user": (
        "max_cgroup_namespaces max_fanotify_groups max_fanotify_marks max_inotify_instances "
        "max_inotify_watches max_ipc_namespaces max_mnt_namespaces max_net_namespaces max_pid_namespaces "
        "max_time_namespaces max_user_namespaces max_uts_namespaces"
    ),
    "vm": (
        "admin_reserve_kbytes anon_min_ratio block_dump clean_low_ratio clean_min_ratio "
        "compact_unevictable_allowed compaction_proactiveness defrag_mode dirty_background_bytes "
        "dirty_background_ratio dirty_bytes dirty_expire_centisecs dirty_ratio dirty_writeback_centisecs "
        "dirtytime_expire_seconds drop_caches enable_soft_offline extfrag_threshold highmem_is_dirtyable "
        "hugepages_treat_as_movable hugetlb_optimize_vmemmap hugetlb_shm_group laptop_mode "
        "legacy_va_layout max_map_count max_writeback_pages memfd_noexec memory_failure_early_kill "
        "memory_failure_recovery mempool_reserve min_free_kbytes min_slab_ratio min_unmapped_ratio "
        "mmap_min_addr mmap_rnd_bits mmap_rnd_compat_bits movable_gigantic_pages nr_hugepages "
        "nr_hugepages_mempolicy nr_overcommit_hugepages nr_pdflush_threads nr_trim_pages numa_stat "
        "oom_dump_tasks oom_kill_allocating_task overcommit_kbytes overcommit_memory overcommit_ratio "
        "page-cluster page_lock_unfairness panic_on_oom percpu_pagelist_fraction "
        "percpu_pagelist_high_fraction scan_unevictable_pages shrink_inodes_with_pagecache stat_interval "
        "swap_token_timeout swappiness unprivileged_userfaultfd user_reserve_kbytes vfs_cache_pressure "
        "vfs_cache_pressure_denom watermark_boost_factor watermark_scale_factor workingset_protection "
        "would_have_oomkilled zone_reclaim_mode"
    ),
}
