/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What OCSF 1.8.0 asks of the classes that are used here, and what EVENTS.md asks beyond it.
 * Written from the schema's pages, not from the encoder: an attribute that has no row here may not
 * be in a line at all.
 *
 *	ROW(class, path, type, need, values, page)
 *	class   class_uid; 0: all classes
 *	path    attribute; "." goes into an object, "[]" into an array
 *	type    INTEGER STRING BOOLEAN OBJECT ARRAY TIME (ms since 1970)
 *	need    REQUIRED OPTIONAL; of an object that is absent, nothing is required
 *	values  the schema's enum, as "|1|2|" or "|text|"; NULL: any
 *	page    below https://schema.ocsf.io/1.8.0/
 */
#ifndef ROW
#error "define ROW first"
#endif

/* Every class: the base event, occurrence and classification. */
ROW(0, "class_uid", INTEGER, REQUIRED, "|1001|1003|1007|2004|4001|5019|", "classes/base_event")
ROW(0, "category_uid", INTEGER, REQUIRED, "|1|2|4|5|", "categories")
ROW(0, "activity_id", INTEGER, REQUIRED, NULL, "classes/base_event")
ROW(0, "activity_name", STRING, OPTIONAL, NULL, "classes/base_event")
ROW(0, "type_uid", INTEGER, REQUIRED, NULL, "classes/base_event")
ROW(0, "severity_id", INTEGER, REQUIRED, "|0|1|2|3|4|5|6|99|", "classes/base_event")
ROW(0, "time", TIME, REQUIRED, NULL, "classes/base_event")
ROW(0, "count", INTEGER, OPTIONAL, NULL, "classes/base_event")
ROW(0, "start_time", TIME, OPTIONAL, NULL, "classes/base_event")
ROW(0, "end_time", TIME, OPTIONAL, NULL, "classes/base_event")
ROW(0, "status_code", STRING, OPTIONAL, NULL, "classes/base_event")
ROW(0, "status_detail", STRING, OPTIONAL, NULL, "classes/base_event")
ROW(0, "unmapped", OBJECT, REQUIRED, NULL, "classes/base_event")

ROW(0, "metadata", OBJECT, REQUIRED, NULL, "objects/metadata")
ROW(0, "metadata.version", STRING, REQUIRED, "|1.8.0|", "objects/metadata")
ROW(0, "metadata.uid", STRING, REQUIRED, NULL, "objects/metadata")
ROW(0, "metadata.sequence", INTEGER, REQUIRED, NULL, "objects/metadata")
ROW(0, "metadata.correlation_uid", STRING, REQUIRED, NULL, "objects/metadata")
ROW(0, "metadata.profiles", ARRAY, REQUIRED, NULL, "objects/metadata")
ROW(0, "metadata.profiles[]", STRING, REQUIRED, "|security_control|host|container|", "profiles")
ROW(0, "metadata.labels", ARRAY, OPTIONAL, NULL, "objects/metadata")
ROW(0, "metadata.labels[]", STRING, OPTIONAL, NULL, "objects/metadata")
ROW(0, "metadata.product", OBJECT, REQUIRED, NULL, "objects/product")
ROW(0, "metadata.product.name", STRING, REQUIRED, NULL, "objects/product")
ROW(0, "metadata.product.version", STRING, REQUIRED, NULL, "objects/product")
ROW(0, "metadata.product.vendor_name", STRING, REQUIRED, NULL, "objects/product")

/* Profile security_control. action_id 2 Denied, 3 Observed; disposition_id 2 Blocked, 17 Logged. */
ROW(0, "action_id", INTEGER, REQUIRED, "|2|3|", "profiles/security_control")
ROW(0, "disposition_id", INTEGER, REQUIRED, "|2|17|", "profiles/security_control")
ROW(0, "policy", OBJECT, REQUIRED, NULL, "objects/policy")
ROW(0, "policy.uid", STRING, REQUIRED, NULL, "objects/policy")
ROW(0, "policy.name", STRING, REQUIRED, NULL, "objects/policy")
ROW(0, "policy.version", STRING, REQUIRED, NULL, "objects/policy")
ROW(0, "firewall_rule", OBJECT, OPTIONAL, NULL, "objects/firewall_rule")
ROW(0, "firewall_rule.uid", STRING, REQUIRED, NULL, "objects/firewall_rule")
ROW(0, "firewall_rule.name", STRING, REQUIRED, NULL, "objects/firewall_rule")
ROW(0, "is_alert", BOOLEAN, OPTIONAL, NULL, "profiles/security_control")

/* Profile host. */
ROW(0, "device", OBJECT, REQUIRED, NULL, "objects/device")
ROW(0, "device.hostname", STRING, REQUIRED, NULL, "objects/device")
ROW(0, "device.uid", STRING, REQUIRED, NULL, "objects/device")
ROW(0, "device.type_id", INTEGER, REQUIRED, "|0|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|99|",
    "objects/device")
ROW(0, "device.os", OBJECT, REQUIRED, NULL, "objects/os")
ROW(0, "device.os.name", STRING, REQUIRED, "|Linux|", "objects/os")
ROW(0, "device.os.type_id", INTEGER, REQUIRED, "|200|", "objects/os")
ROW(0, "device.os.kernel_release", STRING, REQUIRED, NULL, "objects/os")
ROW(0, "actor", OBJECT, OPTIONAL, NULL, "objects/actor")
ROW(0, "actor.process", OBJECT, REQUIRED, NULL, "objects/process")

/* The process object, wherever it stands; pid or uid is required, uid is always there. */
#define PROCESS_ROWS(at, uid_need)                                                   \
	ROW(0, at ".uid", STRING, uid_need, NULL, "objects/process")                 \
	ROW(0, at ".pid", INTEGER, OPTIONAL, NULL, "objects/process")                \
	ROW(0, at ".tid", INTEGER, OPTIONAL, NULL, "objects/process")                \
	ROW(0, at ".name", STRING, OPTIONAL, NULL, "objects/process")                \
	ROW(0, at ".cmd_line", STRING, OPTIONAL, NULL, "objects/process")            \
	ROW(0, at ".created_time", TIME, OPTIONAL, NULL, "objects/process")          \
	ROW(0, at ".sandbox", STRING, OPTIONAL, NULL, "objects/process")             \
	ROW(0, at ".namespace_pid", INTEGER, OPTIONAL, NULL, "profiles/container")   \
	ROW(0, at ".container", OBJECT, OPTIONAL, NULL, "objects/container")         \
	ROW(0, at ".container.uid", STRING, REQUIRED, NULL, "objects/container")     \
	ROW(0, at ".container.name", STRING, OPTIONAL, NULL, "objects/container")    \
	ROW(0, at ".user", OBJECT, OPTIONAL, NULL, "objects/user")                   \
	ROW(0, at ".user.uid", STRING, REQUIRED, NULL, "objects/user")               \
	ROW(0, at ".parent_process", OBJECT, OPTIONAL, NULL, "objects/process")      \
	ROW(0, at ".parent_process.pid", INTEGER, REQUIRED, NULL, "objects/process") \
	FILE_ROWS(0, at ".file", OPTIONAL)

#define FILE_ROWS(class, at, need)                                     \
	ROW(class, at, OBJECT, need, NULL, "objects/file")             \
	ROW(class, at ".name", STRING, REQUIRED, NULL, "objects/file") \
	ROW(class, at ".path", STRING, OPTIONAL, NULL, "objects/file") \
	ROW(class, at ".uid", STRING, OPTIONAL, NULL, "objects/file")  \
	ROW(class, at ".type_id", INTEGER, REQUIRED, "|0|1|2|3|4|5|6|7|99|", "objects/file")

PROCESS_ROWS("actor.process", REQUIRED)

/* 1001 File System Activity: 1 Create ... 14 Open */
ROW(1001, "activity_id", INTEGER, REQUIRED, "|0|1|2|3|4|5|6|7|8|9|10|11|12|13|14|99|",
    "classes/file_activity")
ROW(1001, "actor", OBJECT, REQUIRED, NULL, "classes/file_activity")
ROW(1001, "status_id", INTEGER, REQUIRED, "|2|", "classes/file_activity")
ROW(1001, "firewall_rule", OBJECT, REQUIRED, NULL, "objects/firewall_rule")
ROW(1001, "access_mask", INTEGER, OPTIONAL, NULL, "classes/file_activity")
FILE_ROWS(1001, "file", REQUIRED)

/* 1003 Kernel Activity: 1 Create 2 Read 3 Delete 4 Invoke */
ROW(1003, "activity_id", INTEGER, REQUIRED, "|0|1|2|3|4|99|", "classes/kernel_activity")
ROW(1003, "actor", OBJECT, REQUIRED, NULL, "classes/kernel_activity")
ROW(1003, "status_id", INTEGER, REQUIRED, "|2|", "classes/kernel_activity")
ROW(1003, "firewall_rule", OBJECT, REQUIRED, NULL, "objects/firewall_rule")
ROW(1003, "kernel", OBJECT, REQUIRED, NULL, "objects/kernel")
ROW(1003, "kernel.name", STRING, REQUIRED, NULL, "objects/kernel")
ROW(1003, "kernel.type_id", INTEGER, REQUIRED, "|0|1|2|3|99|", "objects/kernel")
ROW(1003, "kernel.system_call", STRING, REQUIRED, NULL, "objects/kernel")
ROW(1003, "kernel.path", STRING, OPTIONAL, NULL, "objects/kernel")

/* 1007 Process Activity: 1 Launch 2 Terminate ...; launch_type_id 1 Spawn 2 Fork 3 Exec */
ROW(1007, "activity_id", INTEGER, REQUIRED, "|0|1|2|3|4|5|99|", "classes/process_activity")
ROW(1007, "actor", OBJECT, REQUIRED, NULL, "classes/process_activity")
ROW(1007, "status_id", INTEGER, REQUIRED, "|1|2|", "classes/process_activity")
ROW(1007, "launch_type_id", INTEGER, OPTIONAL, "|0|1|2|3|99|", "classes/process_activity")
ROW(1007, "exit_code", INTEGER, OPTIONAL, NULL, "classes/process_activity")
ROW(1007, "process", OBJECT, REQUIRED, NULL, "objects/process")
PROCESS_ROWS("process", OPTIONAL)

/* 2004 Detection Finding: 1 Create 2 Update 3 Close; status_id 1 New */
ROW(2004, "activity_id", INTEGER, REQUIRED, "|0|1|2|3|99|", "classes/detection_finding")
ROW(2004, "status_id", INTEGER, REQUIRED, "|0|1|2|3|4|5|6|99|", "classes/detection_finding")
ROW(2004, "finding_info", OBJECT, REQUIRED, NULL, "objects/finding_info")
ROW(2004, "finding_info.uid", STRING, REQUIRED, NULL, "objects/finding_info")
ROW(2004, "finding_info.title", STRING, REQUIRED, NULL, "objects/finding_info")
ROW(2004, "finding_info.types", ARRAY, REQUIRED, NULL, "objects/finding_info")
ROW(2004, "finding_info.types[]", STRING, REQUIRED, "|tamper|resource_limit|event_gap|",
    "objects/finding_info")
ROW(2004, "is_alert", BOOLEAN, REQUIRED, NULL, "classes/detection_finding")
ROW(2004, "evidences", ARRAY, OPTIONAL, NULL, "objects/evidences")
ROW(2004, "evidences[]", OBJECT, REQUIRED, NULL, "objects/evidences")
ROW(2004, "evidences[].process", OBJECT, REQUIRED, NULL, "objects/process")
PROCESS_ROWS("evidences[].process", REQUIRED)

/* 4001 Network Activity: 1 Open ...; direction_id 1 Inbound 2 Outbound 3 Lateral */
ROW(4001, "activity_id", INTEGER, REQUIRED, "|0|1|2|3|4|5|6|7|99|", "classes/network_activity")
ROW(4001, "actor", OBJECT, REQUIRED, NULL, "profiles/host")
ROW(4001, "status_id", INTEGER, REQUIRED, "|2|", "classes/network_activity")
ROW(4001, "firewall_rule", OBJECT, REQUIRED, NULL, "objects/firewall_rule")
ROW(4001, "dst_endpoint", OBJECT, REQUIRED, NULL, "objects/network_endpoint")
ROW(4001, "dst_endpoint.ip", STRING, OPTIONAL, NULL, "objects/network_endpoint")
ROW(4001, "dst_endpoint.port", INTEGER, OPTIONAL, NULL, "objects/network_endpoint")
ROW(4001, "dst_endpoint.name", STRING, OPTIONAL, NULL, "objects/network_endpoint")
ROW(4001, "connection_info", OBJECT, REQUIRED, NULL, "objects/network_connection_info")
ROW(4001, "connection_info.direction_id", INTEGER, REQUIRED, "|0|1|2|3|99|",
    "objects/network_connection_info")
ROW(4001, "connection_info.protocol_num", INTEGER, REQUIRED, NULL,
    "objects/network_connection_info")
ROW(4001, "connection_info.protocol_name", STRING, OPTIONAL, NULL,
    "objects/network_connection_info")
ROW(4001, "connection_info.protocol_ver_id", INTEGER, OPTIONAL, "|0|4|6|99|",
    "objects/network_connection_info")

/* 5019 Device Config State Change: 1 Log 2 Collect */
ROW(5019, "activity_id", INTEGER, REQUIRED, "|0|1|2|99|", "classes/device_config_state_change")
ROW(5019, "status_id", INTEGER, REQUIRED, "|1|", "classes/device_config_state_change")
ROW(5019, "state", STRING, REQUIRED, "|sealed|unsealed|quarantined|",
    "classes/device_config_state_change")
ROW(5019, "state_id", INTEGER, REQUIRED, "|0|1|2|99|", "classes/device_config_state_change")
ROW(5019, "security_states", ARRAY, REQUIRED, NULL, "objects/security_state")
ROW(5019, "security_states[]", OBJECT, REQUIRED, NULL, "objects/security_state")
ROW(5019, "security_states[].state", STRING, REQUIRED, NULL, "objects/security_state")
ROW(5019, "security_states[].state_id", INTEGER, REQUIRED, NULL, "objects/security_state")

/* What OCSF has no place for (EVENTS.md, "Fields"). */
ROW(0, "unmapped.isoctl", OBJECT, REQUIRED, NULL, "objects/object")
ROW(0, "unmapped.isoctl.prev", STRING, REQUIRED, NULL, "objects/object")
ROW(0, "unmapped.isoctl.kind", STRING, REQUIRED, NULL, "objects/object")
ROW(0, "unmapped.isoctl.sandbox", INTEGER, REQUIRED, NULL, "objects/object")
ROW(0, "unmapped.isoctl.cgroup_id", INTEGER, REQUIRED, NULL, "objects/object")
ROW(0, "unmapped.isoctl.task", STRING, REQUIRED, NULL, "objects/object")
ROW(0, "unmapped.isoctl.attempt", INTEGER, REQUIRED, NULL, "objects/object")
ROW(0, "unmapped.isoctl.hook", STRING, OPTIONAL, NULL, "objects/object")
ROW(0, "unmapped.isoctl.operation", STRING, OPTIONAL, NULL, "objects/object")
ROW(0, "unmapped.isoctl.reason", STRING, OPTIONAL, NULL, "objects/object")
ROW(0, "unmapped.isoctl.ns_pid", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(0, "unmapped.isoctl.kernel_sequence", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(0, "unmapped.isoctl.expected", BOOLEAN, OPTIONAL, NULL, "objects/object")
ROW(1001, "unmapped.isoctl.path2", STRING, OPTIONAL, NULL, "objects/object")
ROW(1003, "unmapped.isoctl.arguments", STRING, OPTIONAL, NULL, "objects/object")
ROW(4001, "unmapped.isoctl.family", INTEGER, REQUIRED, NULL, "objects/object")
ROW(1007, "unmapped.isoctl.signal", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.lost", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.first_seq", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.last_seq", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.cause", STRING, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.limit", STRING, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.max", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.observed", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.bpf_cmd", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.map_id", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.prog_id", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.link_id", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.object", STRING, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.target_pid", INTEGER, OPTIONAL, NULL, "objects/object")
ROW(2004, "unmapped.isoctl.signal", INTEGER, OPTIONAL, NULL, "objects/object")
