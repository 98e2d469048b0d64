CREATE TABLE "accounts" (
	"id" uuid PRIMARY KEY,
	"user_id" uuid NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp with time zone,
	"refresh_token_expires_at" timestamp with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounts_provider_id_account_id_unique" UNIQUE("provider_id","account_id")
);
--> statement-breakpoint
CREATE TABLE "api_tokens" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"permissions" text[],
	"group_ids" uuid[] DEFAULT '{}'::uuid[] NOT NULL,
	"is_installation_admin" boolean DEFAULT false NOT NULL,
	"prefix" text NOT NULL,
	"hash" text NOT NULL UNIQUE,
	"owner_id" uuid NOT NULL,
	"parent_id" uuid,
	"networks" text[] DEFAULT '{}'::text[] NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone,
	"last_used_address" text,
	"revoked_at" timestamp with time zone,
	"revoked_by_id" uuid,
	"revoked_by_name" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "device_authorizations" (
	"id" uuid PRIMARY KEY,
	"device_code_hash" text NOT NULL UNIQUE,
	"user_code_hash" text NOT NULL UNIQUE,
	"client_name" text NOT NULL,
	"client_address" text NOT NULL,
	"token_name" text NOT NULL,
	"role" text,
	"is_installation_admin" boolean NOT NULL,
	"tenant_name" text,
	"expires_in_seconds" integer,
	"interval_seconds" integer NOT NULL,
	"last_polled_at" timestamp with time zone,
	"expires_at" timestamp with time zone NOT NULL,
	"decided_at" timestamp with time zone,
	"is_approved" boolean,
	"user_id" uuid,
	"approved_tenant_id" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"email" text NOT NULL,
	"role" text NOT NULL,
	"hash" text NOT NULL UNIQUE,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"accepted_at" timestamp with time zone,
	"accepted_by_id" uuid,
	"revoked_at" timestamp with time zone,
	"revoked_by_id" uuid,
	"revoked_by_name" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "members" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" text NOT NULL,
	"provider" text,
	"suspended_at" timestamp with time zone,
	"suspended_by_id" uuid,
	"suspended_by_name" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "members_user_id_tenant_id_unique" UNIQUE("user_id","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" uuid PRIMARY KEY,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"credential_id" text NOT NULL UNIQUE,
	"public_key" text NOT NULL,
	"counter" bigint NOT NULL,
	"device_type" text NOT NULL,
	"backed_up" boolean NOT NULL,
	"transports" text,
	"aaguid" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "roles" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"permissions" text[] NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "roles_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY,
	"user_id" uuid NOT NULL,
	"token_hash" text NOT NULL UNIQUE,
	"is_active" boolean DEFAULT false NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"provider" text,
	"authenticated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"active_tenant_id" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_attempts" (
	"key" text PRIMARY KEY,
	"count" integer NOT NULL,
	"ends_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" uuid PRIMARY KEY,
	"name" text NOT NULL UNIQUE,
	"var_merge" text DEFAULT 'replace' NOT NULL,
	"max_concurrent_runs" integer,
	"max_nodes" integer,
	"queue_paused_at" timestamp with time zone,
	"queue_paused_by_id" uuid,
	"queue_paused_by_name" text,
	"queue_pause_reason" text,
	"log_retention_days" integer,
	"artifact_retention_days" integer,
	"run_retention_days" integer,
	"audit_retention_days" integer,
	"step_up_minutes" integer,
	"last_run_number" integer DEFAULT 0 NOT NULL,
	"suspended_at" timestamp with time zone,
	"suspended_by_id" uuid,
	"suspended_by_name" text,
	"deleted_at" timestamp with time zone,
	"deleted_by_id" uuid,
	"deleted_by_name" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "two_factors" (
	"id" uuid PRIMARY KEY,
	"user_id" uuid NOT NULL UNIQUE,
	"secret" text NOT NULL,
	"backup_codes" text NOT NULL,
	"verified" boolean DEFAULT false NOT NULL,
	"failed_verification_count" integer DEFAULT 0 NOT NULL,
	"locked_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY,
	"name" text NOT NULL,
	"email" text NOT NULL UNIQUE,
	"email_verified" boolean DEFAULT false NOT NULL,
	"is_installation_admin" boolean DEFAULT false NOT NULL,
	"image" text,
	"is_service_account" boolean DEFAULT false NOT NULL,
	"two_factor_enabled" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "verifications" (
	"id" uuid PRIMARY KEY,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_enrollment_tokens" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid,
	"prefix" text NOT NULL,
	"hash" text NOT NULL UNIQUE,
	"note" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	"used_by_node_id" uuid,
	"used_from" text,
	"revoked_at" timestamp with time zone,
	"revoked_by_id" uuid,
	"revoked_by_name" text
);
--> statement-breakpoint
CREATE TABLE "agent_keys" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid,
	"public_key" text NOT NULL,
	"agent_id" text,
	"status" text NOT NULL,
	"note" text DEFAULT '' NOT NULL,
	"seen_from" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"approved_at" timestamp with time zone,
	"approved_by_id" uuid,
	"approved_by_name" text,
	"revoked_at" timestamp with time zone,
	"revoked_by_id" uuid,
	"revoked_by_name" text,
	"revoked_reason" text,
	CONSTRAINT "agent_keys_tenant_id_public_key_unique" UNIQUE("tenant_id","public_key")
);
--> statement-breakpoint
CREATE TABLE "agent_outages" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster" text,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"silent" integer NOT NULL,
	"total" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_settings" (
	"tenant_id" uuid PRIMARY KEY,
	"heartbeat_interval_seconds" integer DEFAULT 30 NOT NULL,
	"stale_after_seconds" integer DEFAULT 120 NOT NULL,
	"offline_after_seconds" integer DEFAULT 300 NOT NULL,
	"mass_outage_percent" integer DEFAULT 50 NOT NULL,
	"mass_outage_min_nodes" integer DEFAULT 10 NOT NULL,
	"deregister_after_days" integer,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_transitions" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "agent_transitions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"from" text,
	"to" text NOT NULL,
	"reason" text NOT NULL,
	"evidence" jsonb DEFAULT '{}' NOT NULL,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agents" (
	"node_id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"agent_id" text NOT NULL,
	"cluster" text NOT NULL,
	"state" text DEFAULT 'PENDING' NOT NULL,
	"state_since" timestamp with time zone DEFAULT now() NOT NULL,
	"state_reason" text DEFAULT 'registered' NOT NULL,
	"key_id" uuid,
	"fingerprint" text,
	"offered_fingerprint" text,
	"offered_fingerprint_at" timestamp with time zone,
	"duplicate_key_evidence" jsonb,
	"version" text,
	"registered_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_from" text,
	"drain_requested_at" timestamp with time zone,
	"drain_requested_by_id" uuid,
	"drain_requested_by_name" text,
	"drain_reason" text,
	"offline_suppressed_at" timestamp with time zone,
	CONSTRAINT "agents_tenant_id_agent_id_unique" UNIQUE("tenant_id","agent_id")
);
--> statement-breakpoint
CREATE TABLE "alert_deliveries" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"route_id" uuid NOT NULL,
	"event" text NOT NULL,
	"alerts" jsonb DEFAULT '[]' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"attempted_at" timestamp with time zone,
	"last_error" text,
	"delivered_at" timestamp with time zone,
	"failed_at" timestamp with time zone,
	"status" text GENERATED ALWAYS AS (case when delivered_at is not null then 'DELIVERED' when failed_at is not null then 'FAILED' else 'PENDING' end) STORED NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alert_routes" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"settings" jsonb DEFAULT '{}' NOT NULL,
	"encrypted" jsonb DEFAULT '{}' NOT NULL,
	"matcher" jsonb DEFAULT '{}' NOT NULL,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"notify_on_resolve" boolean DEFAULT true NOT NULL,
	"leased_until" timestamp with time zone,
	"lease_token" uuid,
	"failing_since" timestamp with time zone,
	"last_error" text,
	"retry_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "alert_routes_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "alert_silences" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"matcher" jsonb NOT NULL,
	"reason" text NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alerts" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid,
	"cluster" text,
	"kind" text NOT NULL,
	"severity" text NOT NULL,
	"key" text NOT NULL,
	"is_latest" boolean DEFAULT true NOT NULL,
	"opened_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_at" timestamp with time zone DEFAULT now() NOT NULL,
	"count" integer DEFAULT 1 NOT NULL,
	"resolved_at" timestamp with time zone,
	"acknowledged_at" timestamp with time zone,
	"acknowledged_by_id" uuid,
	"acknowledged_by_name" text,
	"acknowledgment" text,
	"evidence" jsonb DEFAULT '{}' NOT NULL,
	"notified_event" text,
	"notified_at" timestamp with time zone,
	"notify_at" timestamp with time zone,
	"changed_xid" xid8 DEFAULT pg_current_xact_id() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_sinks" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"settings" jsonb DEFAULT '{}' NOT NULL,
	"encrypted" jsonb DEFAULT '{}' NOT NULL,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"delivered_seq" bigint NOT NULL,
	"delivered_at" timestamp with time zone,
	"behind_since" timestamp with time zone,
	"leased_until" timestamp with time zone,
	"lease_token" uuid,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp with time zone,
	"last_error" text,
	"retry_at" timestamp with time zone,
	"test_requested_at" timestamp with time zone,
	"tested_at" timestamp with time zone,
	"test_error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "audit_sinks_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "audit_checkpoints" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid,
	"kind" text NOT NULL,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL,
	"key_version" integer NOT NULL,
	"signature" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "audit_checkpoints_tenant_id_kind_seq_unique" UNIQUE NULLS NOT DISTINCT("tenant_id","kind","seq")
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid,
	"actor_kind" text NOT NULL,
	"actor_id" text,
	"actor_name" text NOT NULL,
	"session_id" text,
	"channel" text DEFAULT 'system' NOT NULL,
	"user_agent" text,
	"address" text,
	"permission" text,
	"action" text NOT NULL,
	"object_id" uuid,
	"object_name" text,
	"details" jsonb DEFAULT '{}' NOT NULL,
	"before" jsonb,
	"after" jsonb,
	"reason" text,
	"request_id" text,
	"run_id" uuid,
	"outcome" text DEFAULT 'succeeded' NOT NULL,
	"error" text,
	"count" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seq" bigint,
	"hash" text
);
--> statement-breakpoint
CREATE TABLE "connection_tests" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"credential_id" uuid,
	"stages" jsonb DEFAULT '[]' NOT NULL,
	"is_ok" boolean,
	"error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "credential_keys" (
	"version" integer PRIMARY KEY,
	"salt" text NOT NULL,
	"wrapped" text,
	"proof" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "credentials" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"username" text,
	"become_method" text,
	"host" text,
	"port" integer,
	"via_id" uuid,
	"host_key" text,
	"host_key_approved_at" timestamp with time zone,
	"offered_host_key" text,
	"allowed_hosts" text[] DEFAULT '{}'::text[] NOT NULL,
	"public_key" text,
	"encrypted" jsonb DEFAULT '{}' NOT NULL,
	"secret_store_id" uuid,
	"secret_refs" jsonb DEFAULT '{}' NOT NULL,
	"last_used_at" timestamp with time zone,
	"last_result_at" timestamp with time zone,
	"last_result_error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "credentials_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "reencrypt_failures" (
	"object_id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"key_version" integer NOT NULL,
	"reason" text NOT NULL,
	"failed_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "secret_stores" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"address" text NOT NULL,
	"namespace" text,
	"mount" text,
	"auth" text NOT NULL,
	"role_id" text,
	"region" text,
	"access_key_id" text,
	"encrypted" jsonb DEFAULT '{}' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "secret_stores_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "discoveries" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"reason" text NOT NULL,
	"result" jsonb,
	"error" text,
	"duration_ms" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"status" text GENERATED ALWAYS AS (case when finished_at is null then case when started_at is null then 'PENDING' else 'RUNNING' end
          when error is null then 'SUCCEEDED' else 'FAILED' end) STORED NOT NULL
);
--> statement-breakpoint
CREATE TABLE "discovery_evidence" (
	"discovery_id" uuid PRIMARY KEY,
	"gzip" bytea NOT NULL
);
--> statement-breakpoint
CREATE TABLE "grants" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"member_id" uuid NOT NULL,
	"role" text NOT NULL,
	"group_id" uuid NOT NULL,
	"template_ids" uuid[],
	"credential_ids" uuid[],
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "node_group_members" (
	"group_id" uuid,
	"node_id" uuid,
	"exclusive_set" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "node_group_members_pkey" PRIMARY KEY("group_id","node_id")
);
--> statement-breakpoint
CREATE TABLE "node_groups" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"display_name" text,
	"description" text DEFAULT '' NOT NULL,
	"priority" integer DEFAULT 100 NOT NULL,
	"is_system" boolean DEFAULT false NOT NULL,
	"parent_id" uuid,
	"member_query" text,
	"exclusive_set" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "node_groups_tenant_id_name_unique" UNIQUE("tenant_id","name"),
	CONSTRAINT "node_groups_id_exclusive_set_unique" UNIQUE("id","exclusive_set"),
	CONSTRAINT "node_groups_query_without_set" CHECK ("member_query" is null or "exclusive_set" = '')
);
--> statement-breakpoint
CREATE TABLE "agent_heartbeat_history" (
	"node_id" uuid,
	"bucket_at" timestamp with time zone,
	"beats" integer NOT NULL,
	"missed" integer NOT NULL,
	"cpu_percent" real,
	"memory_percent" real,
	"max_skew_ms" integer,
	CONSTRAINT "agent_heartbeat_history_pkey" PRIMARY KEY("node_id","bucket_at")
) PARTITION BY RANGE ("bucket_at");
--> statement-breakpoint
-- Holds days without a partition of their own.
CREATE TABLE "agent_heartbeat_history_default" PARTITION OF "agent_heartbeat_history" DEFAULT;
--> statement-breakpoint
CREATE TABLE "agent_heartbeats" (
	"node_id" uuid PRIMARY KEY,
	"boot_epoch" bigint,
	"sequence" bigint,
	"not_before" timestamp with time zone,
	"received_at" timestamp with time zone,
	"agent_time" timestamp with time zone,
	"skew_ms" integer,
	"measured_at" timestamp with time zone,
	"intervals" bigint DEFAULT 0 NOT NULL,
	"interval_mean" double precision DEFAULT 0 NOT NULL,
	"interval_m2" double precision DEFAULT 0 NOT NULL,
	"accepted" bigint DEFAULT 0 NOT NULL,
	"missed" bigint DEFAULT 0 NOT NULL,
	"health" text,
	"slurm_state" text,
	"reported_drain" text,
	"running_jobs" integer,
	"cpu_percent" real,
	"memory_percent" real,
	"gpus_total" integer,
	"gpus_available" integer,
	"lost_accelerators" integer DEFAULT 0 NOT NULL,
	"bucket_at" timestamp with time zone,
	"bucket_heartbeats" integer DEFAULT 0 NOT NULL,
	"bucket_missed" integer DEFAULT 0 NOT NULL,
	"bucket_cpu_sum" real DEFAULT 0 NOT NULL,
	"bucket_memory_sum" real DEFAULT 0 NOT NULL,
	"bucket_max_skew_ms" integer DEFAULT 0 NOT NULL
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE UNLOGGED TABLE "agent_reports" (
	"node_id" uuid PRIMARY KEY,
	"report" json NOT NULL,
	"received_at" timestamp with time zone NOT NULL
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE TABLE "ingest_liveness" (
	"id" integer PRIMARY KEY DEFAULT 1,
	"alive_at" timestamp with time zone NOT NULL,
	"up_since" timestamp with time zone NOT NULL,
	"down_from" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"verb" text NOT NULL,
	"key" text NOT NULL,
	"input_hash" text NOT NULL,
	"result" jsonb,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_tenant_id_verb_key_unique" UNIQUE("tenant_id","verb","key")
);
--> statement-breakpoint
CREATE TABLE "accelerators" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"identity" text NOT NULL,
	"device_type" text NOT NULL,
	"vendor" text NOT NULL,
	"model" text,
	"index" integer NOT NULL,
	"uuid" text,
	"serial" text,
	"slot" text,
	"pci_address" text,
	"memory_total" bigint,
	"memory_used" bigint,
	"is_memory_unified" boolean DEFAULT false NOT NULL,
	"driver_version" text,
	"firmware_version" text,
	"toolkit_version" text,
	"compute_capability" text,
	"partition_mode" text,
	"partitions" jsonb DEFAULT '[]' NOT NULL,
	"numa_node" integer,
	"interconnect" text,
	"ecc_mode" text,
	"ecc_errors" jsonb,
	"temperature" double precision,
	"power" double precision,
	"utilization" double precision,
	"health" text NOT NULL,
	"health_reason" text,
	"source" text NOT NULL,
	"confidence" text DEFAULT 'high' NOT NULL,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accelerators_node_id_identity_unique" UNIQUE("node_id","identity")
);
--> statement-breakpoint
CREATE TABLE "compute_nodes" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"display_name" text,
	"host" text NOT NULL,
	"port" integer DEFAULT 22 NOT NULL,
	"connection_type" text DEFAULT 'ssh' NOT NULL,
	"ssh_user" text,
	"node_type" text DEFAULT 'COMPUTE' NOT NULL,
	"region" text,
	"datacenter" text,
	"tags" text[] DEFAULT '{}'::text[] NOT NULL,
	"labels" jsonb DEFAULT '{}' NOT NULL,
	"notes" text DEFAULT '' NOT NULL,
	"credential_id" uuid,
	"become_credential_id" uuid,
	"bastion_id" uuid,
	"host_key" text,
	"host_key_approved_at" timestamp with time zone,
	"offered_host_key" text,
	"offered_host_key_at" timestamp with time zone,
	"arch" text,
	"os_name" text,
	"os_id" text,
	"os_version" text,
	"kernel" text,
	"cpu_model" text,
	"cpu_sockets" integer,
	"cpu_cores" integer,
	"cpu_threads" integer,
	"memory_bytes" bigint,
	"machine_id" text,
	"boot_id" text,
	"booted_at" timestamp with time zone,
	"facts" jsonb,
	"discovered_at" timestamp with time zone,
	"ready_at" timestamp with time zone,
	"last_seen_at" timestamp with time zone,
	"unreachable_since" timestamp with time zone,
	"unreachable_reason" text,
	"maintenance_at" timestamp with time zone,
	"decommissioned_at" timestamp with time zone,
	"status" text GENERATED ALWAYS AS (case when decommissioned_at is not null then 'DECOMMISSIONED'
          when maintenance_at is not null then 'MAINTENANCE'
          when unreachable_since is not null then 'UNREACHABLE'
          when ready_at is not null then 'READY'
          else 'NEW' end) STORED NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "compute_nodes_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "credential_rotation_hosts" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"rotation_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"attempted_at" timestamp with time zone,
	"installed_at" timestamp with time zone,
	"done_at" timestamp with time zone,
	"restored_at" timestamp with time zone,
	"changing_since" timestamp with time zone,
	"error" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"status" text GENERATED ALWAYS AS (case when error is not null then 'FAILED' when restored_at is not null then 'RESTORED' when done_at is not null then 'DONE'
          when installed_at is not null then 'INSTALLED' else 'PENDING' end) STORED NOT NULL,
	CONSTRAINT "credential_rotation_hosts_rotation_id_node_id_unique" UNIQUE("rotation_id","node_id")
);
--> statement-breakpoint
CREATE TABLE "credential_rotations" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"credential_id" uuid NOT NULL,
	"name" text NOT NULL,
	"encrypted" jsonb DEFAULT '{}' NOT NULL,
	"public_key" text,
	"previous_public_key" text,
	"claim_token" text,
	"touched_at" timestamp with time zone,
	"paused_at" timestamp with time zone,
	"complete_requested_at" timestamp with time zone,
	"cancel_requested_at" timestamp with time zone,
	"switched_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"failed_count" integer DEFAULT 0 NOT NULL,
	"left_credential_id" uuid,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"status" text GENERATED ALWAYS AS (case when finished_at is not null then case when switched_at is null then 'CANCELED' when failed_count > 0 then 'PARTIAL' else 'SUCCEEDED' end
          when paused_at is not null then 'PAUSED' when cancel_requested_at is not null then 'CANCELING' else 'RUNNING' end) STORED NOT NULL
);
--> statement-breakpoint
CREATE TABLE "node_locks" (
	"node_id" uuid,
	"job_run_id" uuid,
	"acquired_at" timestamp with time zone,
	CONSTRAINT "node_locks_pkey" PRIMARY KEY("node_id","job_run_id")
);
--> statement-breakpoint
CREATE TABLE "job_artifacts" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"job_run_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"path" text NOT NULL,
	"size" bigint NOT NULL,
	"sha256" text NOT NULL,
	"store" text NOT NULL,
	"key" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"removed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "job_run_events" (
	"job_run_id" uuid,
	"seq" bigint,
	"kind" text NOT NULL,
	"host" text,
	"play" text,
	"task" text,
	"task_uuid" text,
	"action" text,
	"is_changed" boolean,
	"duration_ms" integer,
	"result" jsonb,
	"stdout" text,
	"start_line" bigint NOT NULL,
	"line_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "job_run_events_pkey" PRIMARY KEY("job_run_id","seq")
);
--> statement-breakpoint
CREATE TABLE "job_run_hosts" (
	"job_run_id" uuid,
	"node_id" uuid,
	"name" text,
	"ok" integer DEFAULT 0 NOT NULL,
	"changed" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"unreachable" integer DEFAULT 0 NOT NULL,
	"skipped" integer DEFAULT 0 NOT NULL,
	"rescued" integer DEFAULT 0 NOT NULL,
	"ignored" integer DEFAULT 0 NOT NULL,
	"result" text DEFAULT 'PENDING' NOT NULL,
	"current_task" text,
	"current_task_at" timestamp with time zone,
	"message" text,
	"failure_signature" text,
	CONSTRAINT "job_run_hosts_pkey" PRIMARY KEY("job_run_id","name")
);
--> statement-breakpoint
CREATE TABLE "job_runs" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"template_id" uuid NOT NULL,
	"template_name" text NOT NULL,
	"template_version" integer,
	"source" text DEFAULT 'shipped' NOT NULL,
	"bundle_id" uuid,
	"git_url" text,
	"git_ref" text,
	"git_credential_id" uuid,
	"git_commit" text,
	"playbook_path" text NOT NULL,
	"become" boolean NOT NULL,
	"become_method" text NOT NULL,
	"become_user" text NOT NULL,
	"timeout_seconds" integer NOT NULL,
	"forks" integer NOT NULL,
	"check_mode" boolean DEFAULT false NOT NULL,
	"diff_mode" boolean DEFAULT false NOT NULL,
	"is_idempotent" boolean DEFAULT false NOT NULL,
	"verbosity" smallint DEFAULT 0 NOT NULL,
	"limit" text,
	"extra_vars" jsonb DEFAULT '{}' NOT NULL,
	"secrets_id" uuid,
	"serial" text,
	"max_fail_percentage" smallint,
	"job_tags" text[] DEFAULT '{}'::text[] NOT NULL,
	"skip_tags" text[] DEFAULT '{}'::text[] NOT NULL,
	"is_read_only" boolean DEFAULT false NOT NULL,
	"parent_run_id" uuid,
	"attempt" integer DEFAULT 1 NOT NULL,
	"reason" text,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"cancel_requested_at" timestamp with time zone,
	"cancel_requested_by_id" uuid,
	"cancel_requested_by_name" text,
	"ansible_started_at" timestamp with time zone,
	"end_cause" text,
	"exit_code" integer,
	"error" text,
	"interrupted_hosts" text[] DEFAULT '{}'::text[] NOT NULL,
	"waiting_since" timestamp with time zone,
	"claim_token" uuid,
	"claimed_by" text,
	"worker_seen_at" timestamp with time zone,
	"retried_at" timestamp with time zone,
	"log_removed_at" timestamp with time zone,
	"last_seq" bigint DEFAULT 0 NOT NULL,
	"last_line" bigint DEFAULT 0 NOT NULL,
	"hosts_total" integer DEFAULT 0 NOT NULL,
	"hosts_ok" integer DEFAULT 0 NOT NULL,
	"hosts_failed" integer DEFAULT 0 NOT NULL,
	"hosts_unreachable" integer DEFAULT 0 NOT NULL,
	"status" text GENERATED ALWAYS AS (case
          when finished_at is null then case
            when cancel_requested_at is not null then 'CANCELING'
            when started_at is null then 'PENDING' else 'RUNNING' end
          when end_cause = 'cancel' then 'CANCELED'
          when end_cause = 'timeout' then 'TIMED_OUT'
          when end_cause in ('error', 'lost') then 'ERROR'
          when exit_code = 0 and hosts_failed + hosts_unreachable = 0 then 'SUCCEEDED'
          when exit_code in (0, 2, 4) and hosts_ok > 0 and hosts_failed + hosts_unreachable > 0 then 'PARTIAL'
          when hosts_ok + hosts_failed + hosts_unreachable = 0 then 'ERROR'
          else 'FAILED' end) STORED NOT NULL
);
--> statement-breakpoint
CREATE TABLE "run_secrets" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"encrypted" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_template_versions" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"template_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"snapshot" jsonb NOT NULL,
	"reason" text,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "job_template_versions_template_id_version_unique" UNIQUE("template_id","version")
);
--> statement-breakpoint
CREATE TABLE "job_templates" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"display_name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"category" text NOT NULL,
	"source" text DEFAULT 'shipped' NOT NULL,
	"bundle_id" uuid,
	"git_url" text,
	"git_ref" text,
	"git_credential_id" uuid,
	"playbook_path" text NOT NULL,
	"become" boolean DEFAULT false NOT NULL,
	"become_method" text DEFAULT 'sudo' NOT NULL,
	"become_user" text DEFAULT 'root' NOT NULL,
	"timeout_seconds" integer DEFAULT 3600 NOT NULL,
	"forks" integer DEFAULT 20 NOT NULL,
	"serial" text,
	"max_fail_percentage" smallint,
	"job_tags" text[] DEFAULT '{}'::text[] NOT NULL,
	"skip_tags" text[] DEFAULT '{}'::text[] NOT NULL,
	"input_schema" jsonb,
	"default_vars" jsonb DEFAULT '{}' NOT NULL,
	"tags" text[] DEFAULT '{}'::text[] NOT NULL,
	"is_system" boolean DEFAULT false NOT NULL,
	"is_idempotent" boolean DEFAULT false NOT NULL,
	"is_read_only" boolean DEFAULT false NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"archived_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "job_templates_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "playbook_bundles" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"sha256" text NOT NULL,
	"size" integer NOT NULL,
	"content" bytea NOT NULL,
	"files" jsonb NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "playbook_bundles_tenant_id_sha256_unique" UNIQUE("tenant_id","sha256")
);
--> statement-breakpoint
CREATE TABLE "variable_scopes" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"group_id" uuid UNIQUE,
	"node_id" uuid UNIQUE,
	"source" text DEFAULT '' NOT NULL,
	"vars" jsonb DEFAULT '{}' NOT NULL,
	"secrets" jsonb DEFAULT '{}' NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"updated_by_id" uuid,
	"updated_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "variable_scopes_one_place" CHECK (num_nonnulls("group_id", "node_id") <= 1)
);
--> statement-breakpoint
CREATE TABLE "variable_secrets" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"scope_id" uuid NOT NULL,
	"name" text NOT NULL,
	"encrypted" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "variable_versions" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"scope_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"source" text NOT NULL,
	"vars" jsonb NOT NULL,
	"secrets" jsonb NOT NULL,
	"reason" text,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "variable_versions_scope_id_version_unique" UNIQUE("scope_id","version")
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"id" uuid PRIMARY KEY,
	"name" text NOT NULL UNIQUE,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"version" text NOT NULL,
	"ansible_version" text NOT NULL,
	"isolation" text DEFAULT 'none' NOT NULL,
	"isolation_weakness" text,
	"findings" jsonb DEFAULT '[]' NOT NULL,
	"concurrency" integer NOT NULL,
	"running" integer DEFAULT 0 NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"drained_at" timestamp with time zone,
	"drained_by_id" uuid,
	"drained_by_name" text
);
--> statement-breakpoint
CREATE INDEX "accounts_user_id_index" ON "accounts" ("user_id");--> statement-breakpoint
CREATE INDEX "api_tokens_tenant_id_index" ON "api_tokens" ("tenant_id");--> statement-breakpoint
CREATE INDEX "api_tokens_owner_id_index" ON "api_tokens" ("owner_id");--> statement-breakpoint
CREATE INDEX "api_tokens_parent_id_index" ON "api_tokens" ("parent_id");--> statement-breakpoint
CREATE INDEX "device_authorizations_user_id_index" ON "device_authorizations" ("user_id");--> statement-breakpoint
CREATE INDEX "device_authorizations_approved_tenant_id_index" ON "device_authorizations" ("approved_tenant_id");--> statement-breakpoint
CREATE INDEX "invitations_tenant_id_index" ON "invitations" ("tenant_id");--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_open_email" ON "invitations" ("tenant_id","email") WHERE accepted_at is null and revoked_at is null;--> statement-breakpoint
CREATE INDEX "members_tenant_id_index" ON "members" ("tenant_id");--> statement-breakpoint
CREATE INDEX "passkeys_user_id_index" ON "passkeys" ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_user_id_index" ON "sessions" ("user_id");--> statement-breakpoint
CREATE INDEX "verifications_identifier_index" ON "verifications" ("identifier");--> statement-breakpoint
CREATE INDEX "verifications_expires_at_index" ON "verifications" ("expires_at");--> statement-breakpoint
CREATE INDEX "agent_enrollment_tokens_tenant_id_id_index" ON "agent_enrollment_tokens" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "agent_enrollment_tokens_node_id_index" ON "agent_enrollment_tokens" ("node_id");--> statement-breakpoint
CREATE INDEX "agent_enrollment_tokens_used_by_node_id_index" ON "agent_enrollment_tokens" ("used_by_node_id");--> statement-breakpoint
CREATE INDEX "agent_keys_public_key_index" ON "agent_keys" ("public_key");--> statement-breakpoint
CREATE INDEX "agent_keys_node_id_index" ON "agent_keys" ("node_id");--> statement-breakpoint
CREATE INDEX "agent_keys_tenant_id_id_index" ON "agent_keys" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "agent_outages_tenant_id_ended_at_index" ON "agent_outages" ("tenant_id","ended_at");--> statement-breakpoint
CREATE INDEX "agent_transitions_node_id_id_index" ON "agent_transitions" ("node_id","id");--> statement-breakpoint
CREATE INDEX "agent_transitions_tenant_id_id_index" ON "agent_transitions" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "agents_agent_id_index" ON "agents" ("agent_id");--> statement-breakpoint
CREATE INDEX "agents_tenant_id_state_index" ON "agents" ("tenant_id","state");--> statement-breakpoint
CREATE INDEX "agents_tenant_id_cluster_index" ON "agents" ("tenant_id","cluster");--> statement-breakpoint
CREATE INDEX "agents_key_id_index" ON "agents" ("key_id");--> statement-breakpoint
CREATE INDEX "agents_state_index" ON "agents" ("state") WHERE (state <> 'ACTIVE' or drain_requested_at is not null) and state <> 'DEREGISTERED';--> statement-breakpoint
CREATE INDEX "alert_deliveries_pending_index" ON "alert_deliveries" ("route_id","id") WHERE delivered_at is null and failed_at is null;--> statement-breakpoint
CREATE INDEX "alert_deliveries_route_id_id_index" ON "alert_deliveries" ("route_id","id");--> statement-breakpoint
CREATE INDEX "alert_deliveries_tenant_id_id_index" ON "alert_deliveries" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "alert_deliveries_alerts_index" ON "alert_deliveries" USING gin ("alerts" jsonb_path_ops);--> statement-breakpoint
CREATE INDEX "alert_silences_tenant_id_ends_at_index" ON "alert_silences" ("tenant_id","ends_at");--> statement-breakpoint
CREATE UNIQUE INDEX "alerts_tenant_id_kind_key_index" ON "alerts" ("tenant_id","kind","key") WHERE is_latest;--> statement-breakpoint
CREATE INDEX "alerts_tenant_id_id_index" ON "alerts" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "alerts_tenant_id_changed_xid_index" ON "alerts" ("tenant_id","changed_xid");--> statement-breakpoint
CREATE INDEX "alerts_node_id_id_index" ON "alerts" ("node_id","id");--> statement-breakpoint
CREATE INDEX "alerts_open_index" ON "alerts" ("tenant_id","last_at") WHERE resolved_at is null;--> statement-breakpoint
CREATE INDEX "alerts_announce_index" ON "alerts" ("notify_at") WHERE notify_at is not null;--> statement-breakpoint
CREATE INDEX "audit_entries_tenant_id_id_index" ON "audit_entries" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_object_id_index" ON "audit_entries" ("object_id");--> statement-breakpoint
CREATE INDEX "audit_entries_tenant_id_seq_index" ON "audit_entries" ("tenant_id","seq");--> statement-breakpoint
CREATE INDEX "audit_entries_unsealed_index" ON "audit_entries" ("tenant_id","id") WHERE ("seq" is null);--> statement-breakpoint
CREATE INDEX "audit_entries_run_id_index" ON "audit_entries" ("run_id") WHERE "run_id" is not null;--> statement-breakpoint
CREATE INDEX "connection_tests_node_id_id_index" ON "connection_tests" ("node_id","id");--> statement-breakpoint
CREATE INDEX "connection_tests_tenant_id_id_index" ON "connection_tests" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "connection_tests_created_at_index" ON "connection_tests" ("created_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "connection_tests_credential_id_index" ON "connection_tests" ("credential_id");--> statement-breakpoint
CREATE INDEX "credentials_via_id_index" ON "credentials" ("via_id");--> statement-breakpoint
CREATE INDEX "credentials_secret_store_id_index" ON "credentials" ("secret_store_id");--> statement-breakpoint
CREATE INDEX "discoveries_node_id_id_index" ON "discoveries" ("node_id","id");--> statement-breakpoint
CREATE INDEX "discoveries_tenant_id_id_index" ON "discoveries" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "discoveries_created_at_index" ON "discoveries" ("created_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "grants_tenant_id_index" ON "grants" ("tenant_id");--> statement-breakpoint
CREATE INDEX "grants_member_id_index" ON "grants" ("member_id");--> statement-breakpoint
CREATE INDEX "grants_group_id_index" ON "grants" ("group_id");--> statement-breakpoint
CREATE INDEX "node_group_members_node_id_index" ON "node_group_members" ("node_id");--> statement-breakpoint
CREATE UNIQUE INDEX "node_group_members_one_of_a_set" ON "node_group_members" ("node_id","exclusive_set") WHERE "exclusive_set" <> '';--> statement-breakpoint
CREATE INDEX "node_groups_parent_id_index" ON "node_groups" ("parent_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at_index" ON "idempotency_keys" ("created_at");--> statement-breakpoint
CREATE INDEX "accelerators_tenant_id_device_type_index" ON "accelerators" ("tenant_id","device_type");--> statement-breakpoint
CREATE INDEX "accelerators_tenant_id_id_index" ON "accelerators" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "compute_nodes_tenant_id_status_index" ON "compute_nodes" ("tenant_id","status");--> statement-breakpoint
CREATE INDEX "compute_nodes_tenant_id_id_index" ON "compute_nodes" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "compute_nodes_tags_index" ON "compute_nodes" USING gin ("tags");--> statement-breakpoint
CREATE INDEX "compute_nodes_credential_id_index" ON "compute_nodes" ("credential_id");--> statement-breakpoint
CREATE INDEX "compute_nodes_become_credential_id_index" ON "compute_nodes" ("become_credential_id");--> statement-breakpoint
CREATE INDEX "compute_nodes_bastion_id_index" ON "compute_nodes" ("bastion_id");--> statement-breakpoint
CREATE INDEX "credential_rotation_hosts_node_id_index" ON "credential_rotation_hosts" ("node_id");--> statement-breakpoint
CREATE INDEX "credential_rotations_tenant_id_id_index" ON "credential_rotations" ("tenant_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "credential_rotations_one_unfinished" ON "credential_rotations" ("credential_id") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "node_locks_job_run_id_index" ON "node_locks" ("job_run_id");--> statement-breakpoint
CREATE UNIQUE INDEX "node_locks_acquired_unique" ON "node_locks" ("node_id") WHERE acquired_at is not null;--> statement-breakpoint
CREATE INDEX "job_artifacts_job_run_id_index" ON "job_artifacts" ("job_run_id");--> statement-breakpoint
CREATE INDEX "job_artifacts_tenant_id_created_at_index" ON "job_artifacts" ("tenant_id","created_at") WHERE removed_at is null;--> statement-breakpoint
CREATE INDEX "job_run_hosts_node_id_index" ON "job_run_hosts" ("node_id");--> statement-breakpoint
CREATE INDEX "job_run_hosts_failure_signature_index" ON "job_run_hosts" ("failure_signature") WHERE failure_signature is not null;--> statement-breakpoint
CREATE INDEX "job_runs_tenant_id_id_index" ON "job_runs" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "job_runs_template_id_index" ON "job_runs" ("template_id");--> statement-breakpoint
CREATE INDEX "job_runs_worker_seen_at_index" ON "job_runs" ("worker_seen_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "job_runs_waiting_since_index" ON "job_runs" ("waiting_since") WHERE waiting_since is not null;--> statement-breakpoint
CREATE INDEX "job_runs_queue_index" ON "job_runs" ("tenant_id","id") WHERE finished_at is null and started_at is null and waiting_since is null;--> statement-breakpoint
CREATE INDEX "job_runs_begun_index" ON "job_runs" ("tenant_id") WHERE finished_at is null and started_at is not null;--> statement-breakpoint
CREATE INDEX "job_runs_tenant_id_finished_at_index" ON "job_runs" ("tenant_id","finished_at");--> statement-breakpoint
CREATE INDEX "job_runs_parent_run_id_index" ON "job_runs" ("parent_run_id");--> statement-breakpoint
CREATE INDEX "job_runs_git_credential_id_index" ON "job_runs" ("git_credential_id") WHERE git_credential_id is not null;--> statement-breakpoint
CREATE INDEX "job_runs_bundle_id_index" ON "job_runs" ("bundle_id") WHERE bundle_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "job_runs_tenant_id_number_index" ON "job_runs" ("tenant_id","number");--> statement-breakpoint
CREATE UNIQUE INDEX "variable_scopes_one_global" ON "variable_scopes" ("tenant_id") WHERE group_id is null and node_id is null;--> statement-breakpoint
CREATE INDEX "variable_scopes_tenant_id_index" ON "variable_scopes" ("tenant_id");--> statement-breakpoint
CREATE INDEX "variable_secrets_scope_id_index" ON "variable_secrets" ("scope_id");--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_users_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_owner_id_users_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_parent_id_api_tokens_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "api_tokens"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_revoked_by_id_users_id_fkey" FOREIGN KEY ("revoked_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "device_authorizations" ADD CONSTRAINT "device_authorizations_user_id_users_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "device_authorizations" ADD CONSTRAINT "device_authorizations_approved_tenant_id_tenants_id_fkey" FOREIGN KEY ("approved_tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_accepted_by_id_users_id_fkey" FOREIGN KEY ("accepted_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_revoked_by_id_users_id_fkey" FOREIGN KEY ("revoked_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_users_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_suspended_by_id_users_id_fkey" FOREIGN KEY ("suspended_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_user_id_users_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "roles" ADD CONSTRAINT "roles_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "roles" ADD CONSTRAINT "roles_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_active_tenant_id_tenants_id_fkey" FOREIGN KEY ("active_tenant_id") REFERENCES "tenants"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "tenants" ADD CONSTRAINT "tenants_queue_paused_by_id_users_id_fkey" FOREIGN KEY ("queue_paused_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "tenants" ADD CONSTRAINT "tenants_suspended_by_id_users_id_fkey" FOREIGN KEY ("suspended_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "tenants" ADD CONSTRAINT "tenants_deleted_by_id_users_id_fkey" FOREIGN KEY ("deleted_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "two_factors" ADD CONSTRAINT "two_factors_user_id_users_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agent_enrollment_tokens" ADD CONSTRAINT "agent_enrollment_tokens_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agent_enrollment_tokens" ADD CONSTRAINT "agent_enrollment_tokens_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agent_enrollment_tokens" ADD CONSTRAINT "agent_enrollment_tokens_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "agent_enrollment_tokens" ADD CONSTRAINT "agent_enrollment_tokens_used_by_node_id_compute_nodes_id_fkey" FOREIGN KEY ("used_by_node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "agent_enrollment_tokens" ADD CONSTRAINT "agent_enrollment_tokens_revoked_by_id_users_id_fkey" FOREIGN KEY ("revoked_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_approved_by_id_users_id_fkey" FOREIGN KEY ("approved_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_revoked_by_id_users_id_fkey" FOREIGN KEY ("revoked_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "agent_outages" ADD CONSTRAINT "agent_outages_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agent_settings" ADD CONSTRAINT "agent_settings_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agent_transitions" ADD CONSTRAINT "agent_transitions_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agent_transitions" ADD CONSTRAINT "agent_transitions_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_key_id_agent_keys_id_fkey" FOREIGN KEY ("key_id") REFERENCES "agent_keys"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_drain_requested_by_id_users_id_fkey" FOREIGN KEY ("drain_requested_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "alert_deliveries" ADD CONSTRAINT "alert_deliveries_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "alert_deliveries" ADD CONSTRAINT "alert_deliveries_route_id_alert_routes_id_fkey" FOREIGN KEY ("route_id") REFERENCES "alert_routes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "alert_routes" ADD CONSTRAINT "alert_routes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "alert_silences" ADD CONSTRAINT "alert_silences_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "alert_silences" ADD CONSTRAINT "alert_silences_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_acknowledged_by_id_users_id_fkey" FOREIGN KEY ("acknowledged_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "audit_sinks" ADD CONSTRAINT "audit_sinks_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "audit_checkpoints" ADD CONSTRAINT "audit_checkpoints_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "connection_tests" ADD CONSTRAINT "connection_tests_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "connection_tests" ADD CONSTRAINT "connection_tests_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "connection_tests" ADD CONSTRAINT "connection_tests_credential_id_credentials_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_via_id_credentials_id_fkey" FOREIGN KEY ("via_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_secret_store_id_secret_stores_id_fkey" FOREIGN KEY ("secret_store_id") REFERENCES "secret_stores"("id");--> statement-breakpoint
ALTER TABLE "reencrypt_failures" ADD CONSTRAINT "reencrypt_failures_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "secret_stores" ADD CONSTRAINT "secret_stores_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "discoveries" ADD CONSTRAINT "discoveries_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "discoveries" ADD CONSTRAINT "discoveries_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "discovery_evidence" ADD CONSTRAINT "discovery_evidence_discovery_id_discoveries_id_fkey" FOREIGN KEY ("discovery_id") REFERENCES "discoveries"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_member_id_members_id_fkey" FOREIGN KEY ("member_id") REFERENCES "members"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_group_id_node_groups_id_fkey" FOREIGN KEY ("group_id") REFERENCES "node_groups"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "node_group_members" ADD CONSTRAINT "node_group_members_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "node_group_members" ADD CONSTRAINT "node_group_members_group" FOREIGN KEY ("group_id","exclusive_set") REFERENCES "node_groups"("id","exclusive_set") ON DELETE CASCADE ON UPDATE CASCADE;--> statement-breakpoint
ALTER TABLE "node_groups" ADD CONSTRAINT "node_groups_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "node_groups" ADD CONSTRAINT "node_groups_parent_id_node_groups_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "node_groups"("id");--> statement-breakpoint
ALTER TABLE "agent_heartbeats" ADD CONSTRAINT "agent_heartbeats_node_id_agents_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "agents"("node_id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agent_reports" ADD CONSTRAINT "agent_reports_node_id_agents_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "agents"("node_id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "accelerators" ADD CONSTRAINT "accelerators_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "accelerators" ADD CONSTRAINT "accelerators_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_credential_id_credentials_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_become_credential_id_credentials_id_fkey" FOREIGN KEY ("become_credential_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_bastion_id_credentials_id_fkey" FOREIGN KEY ("bastion_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "credential_rotation_hosts" ADD CONSTRAINT "credential_rotation_hosts_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "credential_rotation_hosts" ADD CONSTRAINT "credential_rotation_hosts_zxYa92DjZZ15_fkey" FOREIGN KEY ("rotation_id") REFERENCES "credential_rotations"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "credential_rotation_hosts" ADD CONSTRAINT "credential_rotation_hosts_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "credential_rotations" ADD CONSTRAINT "credential_rotations_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "credential_rotations" ADD CONSTRAINT "credential_rotations_credential_id_credentials_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "credential_rotations" ADD CONSTRAINT "credential_rotations_left_credential_id_credentials_id_fkey" FOREIGN KEY ("left_credential_id") REFERENCES "credentials"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "credential_rotations" ADD CONSTRAINT "credential_rotations_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "node_locks" ADD CONSTRAINT "node_locks_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "node_locks" ADD CONSTRAINT "node_locks_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_artifacts" ADD CONSTRAINT "job_artifacts_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "job_artifacts" ADD CONSTRAINT "job_artifacts_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_run_events" ADD CONSTRAINT "job_run_events_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_run_hosts" ADD CONSTRAINT "job_run_hosts_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_run_hosts" ADD CONSTRAINT "job_run_hosts_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_template_id_job_templates_id_fkey" FOREIGN KEY ("template_id") REFERENCES "job_templates"("id");--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_bundle_id_playbook_bundles_id_fkey" FOREIGN KEY ("bundle_id") REFERENCES "playbook_bundles"("id");--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_git_credential_id_credentials_id_fkey" FOREIGN KEY ("git_credential_id") REFERENCES "credentials"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_secrets_id_run_secrets_id_fkey" FOREIGN KEY ("secrets_id") REFERENCES "run_secrets"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_parent_run_id_job_runs_id_fkey" FOREIGN KEY ("parent_run_id") REFERENCES "job_runs"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_cancel_requested_by_id_users_id_fkey" FOREIGN KEY ("cancel_requested_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "run_secrets" ADD CONSTRAINT "run_secrets_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "job_template_versions" ADD CONSTRAINT "job_template_versions_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "job_template_versions" ADD CONSTRAINT "job_template_versions_template_id_job_templates_id_fkey" FOREIGN KEY ("template_id") REFERENCES "job_templates"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_template_versions" ADD CONSTRAINT "job_template_versions_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_templates" ADD CONSTRAINT "job_templates_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "job_templates" ADD CONSTRAINT "job_templates_bundle_id_playbook_bundles_id_fkey" FOREIGN KEY ("bundle_id") REFERENCES "playbook_bundles"("id");--> statement-breakpoint
ALTER TABLE "job_templates" ADD CONSTRAINT "job_templates_git_credential_id_credentials_id_fkey" FOREIGN KEY ("git_credential_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "playbook_bundles" ADD CONSTRAINT "playbook_bundles_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "playbook_bundles" ADD CONSTRAINT "playbook_bundles_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "variable_scopes" ADD CONSTRAINT "variable_scopes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "variable_scopes" ADD CONSTRAINT "variable_scopes_group_id_node_groups_id_fkey" FOREIGN KEY ("group_id") REFERENCES "node_groups"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "variable_scopes" ADD CONSTRAINT "variable_scopes_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "variable_scopes" ADD CONSTRAINT "variable_scopes_updated_by_id_users_id_fkey" FOREIGN KEY ("updated_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "variable_secrets" ADD CONSTRAINT "variable_secrets_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "variable_secrets" ADD CONSTRAINT "variable_secrets_scope_id_variable_scopes_id_fkey" FOREIGN KEY ("scope_id") REFERENCES "variable_scopes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "variable_versions" ADD CONSTRAINT "variable_versions_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "variable_versions" ADD CONSTRAINT "variable_versions_scope_id_variable_scopes_id_fkey" FOREIGN KEY ("scope_id") REFERENCES "variable_scopes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "variable_versions" ADD CONSTRAINT "variable_versions_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "workers" ADD CONSTRAINT "workers_drained_by_id_users_id_fkey" FOREIGN KEY ("drained_by_id") REFERENCES "users"("id") ON DELETE SET NULL;