CREATE TABLE "boot_assignments" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"profile_id" uuid NOT NULL,
	"target" text NOT NULL,
	"node_id" uuid,
	"group_id" uuid,
	"priority" integer DEFAULT 100 NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "boot_assignments_once" UNIQUE NULLS NOT DISTINCT("profile_id","target","node_id","group_id"),
	CONSTRAINT "boot_assignments_node" CHECK (("target" = 'NODE') = ("node_id" is not null)),
	CONSTRAINT "boot_assignments_group" CHECK (("target" = 'GROUP') = ("group_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "boot_profile_versions" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"profile_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"parent" text,
	"content" jsonb NOT NULL,
	"comment" text,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "boot_profile_versions_profile_id_number_unique" UNIQUE("profile_id","number")
);
--> statement-breakpoint
CREATE TABLE "boot_profiles" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"parent_id" uuid,
	"content" jsonb NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"updated_by_id" uuid,
	"updated_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "boot_profiles_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "boot_attempts" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"cause" text NOT NULL,
	"mac" text,
	"profile" text,
	"profile_version" integer,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone,
	"is_abandoned" boolean DEFAULT false NOT NULL,
	"state" text GENERATED ALWAYS AS (case when finished_at is null then 'BOOTING' when is_abandoned then 'ABANDONED' else 'READY' end) STORED NOT NULL
);
--> statement-breakpoint
CREATE TABLE "boot_fetches" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"attempt_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"hash" text NOT NULL,
	"profile" text,
	"profile_version" integer,
	"has_token" boolean DEFAULT false NOT NULL,
	"refusal" text,
	"count" integer DEFAULT 1 NOT NULL,
	"first_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_at" timestamp with time zone DEFAULT now() NOT NULL,
	"address" text,
	CONSTRAINT "boot_fetches_attempt_id_kind_hash_has_token_unique" UNIQUE("attempt_id","kind","hash","has_token")
);
--> statement-breakpoint
CREATE TABLE "boot_stage_times" (
	"attempt_id" uuid,
	"stage" text,
	"reached_at" timestamp with time zone NOT NULL,
	CONSTRAINT "boot_stage_times_pkey" PRIMARY KEY("attempt_id","stage")
);
--> statement-breakpoint
CREATE TABLE "boot_tokens" (
	"attempt_id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"mac" text NOT NULL,
	"hash" text NOT NULL UNIQUE,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	"used_from" text
);
--> statement-breakpoint
CREATE TABLE "unknown_machines" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"mac" text NOT NULL,
	"arch" text,
	"serial" text,
	"system_uuid" text,
	"interfaces" jsonb DEFAULT '[]' NOT NULL,
	"seen_from" text,
	"requests" integer DEFAULT 1 NOT NULL,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"accepted_at" timestamp with time zone,
	"accepted_by_id" uuid,
	"accepted_by_name" text,
	"node_id" uuid,
	"rejected_at" timestamp with time zone,
	"rejected_by_id" uuid,
	"rejected_by_name" text,
	"rejected_reason" text,
	"state" text GENERATED ALWAYS AS (case when rejected_at is not null then 'REJECTED' when accepted_at is not null then 'ACCEPTED' else 'NEW' end) STORED NOT NULL,
	CONSTRAINT "unknown_machines_tenant_id_mac_unique" UNIQUE("tenant_id","mac")
);
--> statement-breakpoint
CREATE TABLE "slurm_cluster_tests" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"program_folder" text,
	"slurmrestd_socket" text,
	"slurmrestd_credential_id" uuid,
	"slurmrestd_ca_certificate" text,
	"queries" jsonb DEFAULT '[]' NOT NULL,
	"preview" jsonb,
	"is_ok" boolean,
	"error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "slurm_clusters" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"region" text,
	"controller_node_id" uuid UNIQUE,
	"backup_node_id" uuid,
	"database_node_id" uuid,
	"program_folder" text,
	"slurmrestd_socket" text,
	"slurmrestd_credential_id" uuid,
	"slurmrestd_ca_certificate" text,
	"reuse_config" boolean DEFAULT true NOT NULL,
	"reuse_munge_key" boolean DEFAULT true NOT NULL,
	"reuse_database" boolean DEFAULT true NOT NULL,
	"max_nodes" integer,
	"install" jsonb,
	"salt_credential_id" uuid,
	"salt_eauth" text,
	"salt_ca_certificate" text,
	"salt_installs" boolean DEFAULT false NOT NULL,
	"node_group_id" uuid,
	"original_cluster_name" text,
	"cluster_name" text,
	"version" text,
	"controllers" jsonb DEFAULT '[]' NOT NULL,
	"settings" jsonb DEFAULT '{}' NOT NULL,
	"settings_read_at" timestamp with time zone,
	"reservations" jsonb DEFAULT '[]' NOT NULL,
	"licenses" jsonb DEFAULT '[]' NOT NULL,
	"scheduler" jsonb,
	"discovered_at" timestamp with time zone,
	"config_number" integer,
	"config_node_ids" uuid[] DEFAULT '{}'::uuid[] NOT NULL,
	"config_checked_at" timestamp with time zone,
	"config_drift" jsonb DEFAULT '{}' NOT NULL,
	"queries" jsonb DEFAULT '[]' NOT NULL,
	"refreshed_at" timestamp with time zone,
	"refresh_duration_ms" integer,
	"read_node_id" uuid,
	"fallback_reason" text,
	"failing_since" timestamp with time zone,
	"failure_count" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"next_refresh_at" timestamp with time zone DEFAULT now() NOT NULL,
	"claim_token" text,
	"claimed_until" timestamp with time zone,
	"state" text GENERATED ALWAYS AS (case when failing_since is not null or coalesce(controller_node_id, backup_node_id) is null then 'NOT_ANSWERING' when refreshed_at is null then 'WAITING' else 'OK' end) STORED NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "slurm_clusters_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "slurm_jobs" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"job_id" text NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"user_name" text,
	"partition" text NOT NULL,
	"node_names" text[] NOT NULL,
	"report" jsonb NOT NULL,
	"digest" text,
	CONSTRAINT "slurm_jobs_cluster_id_job_id_unique" UNIQUE("cluster_id","job_id")
);
--> statement-breakpoint
CREATE TABLE "slurm_lookups" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"request" jsonb NOT NULL,
	"result" jsonb,
	"error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "slurm_node_choices" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"name" text NOT NULL,
	"node_id" uuid,
	CONSTRAINT "slurm_node_choices_cluster_id_name_unique" UNIQUE("cluster_id","name")
);
--> statement-breakpoint
CREATE TABLE "slurm_nodes" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"name" text NOT NULL,
	"states" text[] NOT NULL,
	"state" text NOT NULL,
	"partitions" text[] NOT NULL,
	"cpus" integer NOT NULL,
	"allocated_cpus" integer NOT NULL,
	"gpus" integer NOT NULL,
	"allocated_gpus" integer NOT NULL,
	"report" jsonb NOT NULL,
	"digest" text,
	"node_id" uuid,
	"matched_by" text,
	"match_conflict" text,
	"candidate_ids" uuid[] DEFAULT '{}'::uuid[] NOT NULL,
	CONSTRAINT "slurm_nodes_cluster_id_name_unique" UNIQUE("cluster_id","name")
);
--> statement-breakpoint
CREATE TABLE "slurm_partitions" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"name" text NOT NULL,
	"report" jsonb NOT NULL,
	CONSTRAINT "slurm_partitions_cluster_id_name_unique" UNIQUE("cluster_id","name")
);
--> statement-breakpoint
CREATE TABLE "manifest_objects" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"owner" text NOT NULL,
	"kind" text NOT NULL,
	"object_id" uuid NOT NULL,
	"fields" jsonb NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "manifest_objects_tenant_id_kind_object_id_owner_unique" UNIQUE("tenant_id","kind","object_id","owner")
);
--> statement-breakpoint
CREATE TABLE "node_bmcs" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL UNIQUE,
	"address" text NOT NULL,
	"port" integer NOT NULL,
	"mac" text,
	"protocol" text NOT NULL,
	"credential_id" uuid NOT NULL,
	"fingerprint" text,
	"ca_certificate" text,
	"system_path" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "node_bmcs_tenant_id_address_port_system_path_unique" UNIQUE("tenant_id","address","port","system_path")
);
--> statement-breakpoint
CREATE TABLE "node_interfaces" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"name" text NOT NULL,
	"mac" text NOT NULL,
	"is_boot" boolean DEFAULT false NOT NULL,
	"addresses" jsonb DEFAULT '[]' NOT NULL,
	"position" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "node_interfaces_tenant_id_mac_unique" UNIQUE("tenant_id","mac"),
	CONSTRAINT "node_interfaces_node_id_name_unique" UNIQUE("node_id","name")
);
--> statement-breakpoint
CREATE TABLE "bmc_discoveries" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"addresses" text[] NOT NULL,
	"protocol" text NOT NULL,
	"port" integer NOT NULL,
	"credential_id" uuid,
	"ca_certificate" text,
	"address_count" integer NOT NULL,
	"probed_count" integer DEFAULT 0 NOT NULL,
	"found_count" integer DEFAULT 0 NOT NULL,
	"claim_token" text,
	"claimed_until" timestamp with time zone,
	"cancel_requested_at" timestamp with time zone,
	"canceled_by_name" text,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"error" text,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"status" text GENERATED ALWAYS AS (case when finished_at is not null then case when error is not null then 'FAILED' when cancel_requested_at is not null then 'CANCELED' else 'SUCCEEDED' end
          when cancel_requested_at is not null then 'CANCELING' when started_at is not null then 'RUNNING' else 'PENDING' end) STORED NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bmc_readings" (
	"bmc_id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"reported_state" text,
	"read_at" timestamp with time zone,
	"error" text,
	"failed_at" timestamp with time zone,
	"offered_fingerprint" text,
	"inventory" jsonb,
	"sensors" jsonb,
	"events" jsonb,
	"details_read_at" timestamp with time zone,
	"requested_at" timestamp with time zone,
	"scheduled_at" timestamp with time zone,
	"power_state" text GENERATED ALWAYS AS (case when error is not null then 'UNKNOWN' else coalesce(reported_state, 'UNKNOWN') end) STORED NOT NULL
);
--> statement-breakpoint
CREATE TABLE "found_bmcs" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"discovery_id" uuid NOT NULL,
	"address" text NOT NULL,
	"port" integer NOT NULL,
	"system_path" text DEFAULT '' NOT NULL,
	"fingerprint" text,
	"product" text,
	"inventory" jsonb,
	"reported_state" text,
	"message" text,
	"node_id" uuid,
	"matched_by" text,
	"conflict" text,
	CONSTRAINT "found_bmcs_discovery_id_address_port_system_path_unique" UNIQUE("discovery_id","address","port","system_path")
);
--> statement-breakpoint
CREATE TABLE "power_run_items" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"run_id" uuid NOT NULL,
	"node_id" uuid,
	"node_name" text NOT NULL,
	"before" text,
	"after" text,
	"sent_at" timestamp with time zone,
	"last_reset_before" text,
	"result" text,
	"message" text,
	"finished_at" timestamp with time zone,
	CONSTRAINT "power_run_items_run_id_node_name_unique" UNIQUE("run_id","node_name")
);
--> statement-breakpoint
CREATE TABLE "power_runs" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"action" text NOT NULL,
	"boot_device" text,
	"reason" text NOT NULL,
	"is_forced" boolean DEFAULT false NOT NULL,
	"parallelism" integer NOT NULL,
	"delay_seconds" integer NOT NULL,
	"target_count" integer NOT NULL,
	"problem_count" integer DEFAULT 0 NOT NULL,
	"claim_token" text,
	"claimed_until" timestamp with time zone,
	"cancel_requested_at" timestamp with time zone,
	"canceled_by_name" text,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"status" text GENERATED ALWAYS AS (case when finished_at is not null then case when problem_count = 0 then 'SUCCEEDED' when cancel_requested_at is not null then 'CANCELED'
            when problem_count < target_count then 'PARTIAL' else 'FAILED' end
          when cancel_requested_at is not null then 'CANCELING' when started_at is not null then 'RUNNING' else 'PENDING' end) STORED NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_run_batches" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"job_run_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"phase" text NOT NULL,
	"phase_since" timestamp with time zone DEFAULT now() NOT NULL,
	"child_run_id" uuid,
	"drain_action_id" uuid,
	"resume_action_ids" uuid[] DEFAULT '{}'::uuid[] NOT NULL,
	"error" text,
	"is_timed_out" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "job_run_slurm_nodes" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"job_run_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"batch_id" uuid,
	"node_id" uuid,
	"name" text NOT NULL,
	"host" text NOT NULL,
	"drain_reason" text,
	"is_drained" boolean DEFAULT false NOT NULL,
	"outcome" text,
	"message" text
);
--> statement-breakpoint
CREATE TABLE "slurm_action_items" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"action_id" uuid NOT NULL,
	"target" text NOT NULL,
	"before" text,
	"after" text,
	"sent_at" timestamp with time zone,
	"result" text,
	"message" text,
	CONSTRAINT "slurm_action_items_action_id_target_unique" UNIQUE("action_id","target")
);
--> statement-breakpoint
CREATE TABLE "slurm_actions" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"verb" text NOT NULL,
	"action" jsonb NOT NULL,
	"reason" text NOT NULL,
	"target_count" integer NOT NULL,
	"problem_count" integer DEFAULT 0 NOT NULL,
	"claim_token" text,
	"claimed_until" timestamp with time zone,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"error" text,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"status" text GENERATED ALWAYS AS (case when finished_at is not null then case when problem_count = 0 then 'SUCCEEDED' when problem_count < target_count then 'PARTIAL' else 'FAILED' end
          when started_at is not null then 'RUNNING' else 'PENDING' end) STORED NOT NULL
);
--> statement-breakpoint
CREATE TABLE "slurm_config_snippets" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"files" jsonb NOT NULL,
	"cluster_ids" uuid[] NOT NULL,
	"regions" text[] DEFAULT '{}'::text[] NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"updated_by_id" uuid,
	"updated_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "slurm_config_snippets_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "slurm_config_versions" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"files" jsonb NOT NULL,
	"snippets" text[] DEFAULT '{}'::text[] NOT NULL,
	"settings" jsonb,
	"origin" text NOT NULL,
	"based_on" integer,
	"reason" text NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "slurm_config_versions_cluster_id_number_unique" UNIQUE("cluster_id","number")
);
--> statement-breakpoint
CREATE TABLE "slurm_operation_nodes" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"operation_id" uuid NOT NULL,
	"node_id" uuid,
	"name" text NOT NULL,
	"phase" text DEFAULT 'WAITING' NOT NULL,
	"is_failed" boolean DEFAULT false NOT NULL,
	"message" text,
	"checks" jsonb DEFAULT '[]' NOT NULL,
	CONSTRAINT "slurm_operation_nodes_operation_id_name_unique" UNIQUE("operation_id","name")
);
--> statement-breakpoint
CREATE TABLE "slurm_operations" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"input" jsonb DEFAULT '{}' NOT NULL,
	"plan" jsonb DEFAULT '{}' NOT NULL,
	"reason" text NOT NULL,
	"steps" jsonb DEFAULT '[]' NOT NULL,
	"step" text,
	"config_number" integer,
	"rollout" jsonb,
	"salt_jobs" jsonb DEFAULT '[]' NOT NULL,
	"node_count" integer DEFAULT 0 NOT NULL,
	"problem_count" integer DEFAULT 0 NOT NULL,
	"claim_token" text,
	"claimed_until" timestamp with time zone,
	"cancel_requested_at" timestamp with time zone,
	"cancel_requested_by_id" uuid,
	"cancel_requested_by_name" text,
	"error" text,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"status" text GENERATED ALWAYS AS (case
          when finished_at is null then case when started_at is null then 'PENDING' else 'RUNNING' end
          when error is not null and cancel_requested_at is not null then 'CANCELED'
          when error is not null then 'FAILED'
          when problem_count = 0 then 'SUCCEEDED'
          when problem_count < node_count then 'PARTIAL' else 'FAILED' end) STORED NOT NULL
);
--> statement-breakpoint
CREATE TABLE "slurm_readiness_checks" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster_id" uuid,
	"prefix" text,
	"salt" jsonb,
	"nodes" jsonb DEFAULT '[]' NOT NULL,
	"claim_token" text,
	"claimed_until" timestamp with time zone,
	"error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "grants" ADD COLUMN "cluster_id" uuid;--> statement-breakpoint
ALTER TABLE "grants" ADD COLUMN "partitions" text[];--> statement-breakpoint
ALTER TABLE "node_groups" ADD COLUMN "kind" text DEFAULT 'AD_HOC' NOT NULL;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "rack" text;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "rack_position" text;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "xname" text;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "nid" integer;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "management_ip" text;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "slurm" jsonb;--> statement-breakpoint
ALTER TABLE "grants" ALTER COLUMN "group_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_tenant_id_xname_unique" UNIQUE("tenant_id","xname");--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_tenant_id_nid_unique" UNIQUE("tenant_id","nid");--> statement-breakpoint
CREATE INDEX "boot_assignments_tenant_id_target_index" ON "boot_assignments" ("tenant_id","target");--> statement-breakpoint
CREATE INDEX "boot_assignments_node_id_index" ON "boot_assignments" ("node_id");--> statement-breakpoint
CREATE INDEX "boot_assignments_group_id_index" ON "boot_assignments" ("group_id");--> statement-breakpoint
CREATE INDEX "boot_profiles_parent_id_index" ON "boot_profiles" ("parent_id");--> statement-breakpoint
CREATE UNIQUE INDEX "boot_attempts_node_id_index" ON "boot_attempts" ("node_id") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "boot_attempts_node_id_id_index" ON "boot_attempts" ("node_id","id");--> statement-breakpoint
CREATE INDEX "boot_attempts_tenant_id_id_index" ON "boot_attempts" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "boot_attempts_tenant_id_started_at_index" ON "boot_attempts" ("tenant_id","started_at");--> statement-breakpoint
CREATE INDEX "boot_fetches_node_id_id_index" ON "boot_fetches" ("node_id","id");--> statement-breakpoint
CREATE INDEX "boot_fetches_tenant_id_id_index" ON "boot_fetches" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "unknown_machines_tenant_id_state_last_seen_at_index" ON "unknown_machines" ("tenant_id","state","last_seen_at");--> statement-breakpoint
CREATE INDEX "unknown_machines_tenant_id_id_index" ON "unknown_machines" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "unknown_machines_node_id_index" ON "unknown_machines" ("node_id");--> statement-breakpoint
CREATE INDEX "slurm_cluster_tests_tenant_id_id_index" ON "slurm_cluster_tests" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "slurm_cluster_tests_node_id_id_index" ON "slurm_cluster_tests" ("node_id","id");--> statement-breakpoint
CREATE INDEX "slurm_cluster_tests_slurmrestd_credential_id_index" ON "slurm_cluster_tests" ("slurmrestd_credential_id");--> statement-breakpoint
CREATE INDEX "slurm_cluster_tests_created_at_index" ON "slurm_cluster_tests" ("created_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "slurm_clusters_next_refresh_at_index" ON "slurm_clusters" ("next_refresh_at");--> statement-breakpoint
CREATE INDEX "slurm_clusters_salt_credential_id_index" ON "slurm_clusters" ("salt_credential_id");--> statement-breakpoint
CREATE INDEX "slurm_clusters_slurmrestd_credential_id_index" ON "slurm_clusters" ("slurmrestd_credential_id");--> statement-breakpoint
CREATE INDEX "slurm_clusters_tenant_id_id_index" ON "slurm_clusters" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "slurm_jobs_cluster_id_state_index" ON "slurm_jobs" ("cluster_id","state");--> statement-breakpoint
CREATE INDEX "slurm_jobs_tenant_id_id_index" ON "slurm_jobs" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "slurm_jobs_node_names_index" ON "slurm_jobs" USING gin ("node_names");--> statement-breakpoint
CREATE INDEX "slurm_lookups_tenant_id_id_index" ON "slurm_lookups" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "slurm_lookups_cluster_id_index" ON "slurm_lookups" ("cluster_id");--> statement-breakpoint
CREATE INDEX "slurm_lookups_created_at_index" ON "slurm_lookups" ("created_at");--> statement-breakpoint
CREATE INDEX "slurm_node_choices_tenant_id_index" ON "slurm_node_choices" ("tenant_id");--> statement-breakpoint
CREATE INDEX "slurm_node_choices_node_id_index" ON "slurm_node_choices" ("node_id");--> statement-breakpoint
CREATE INDEX "slurm_nodes_tenant_id_id_index" ON "slurm_nodes" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "slurm_nodes_node_id_index" ON "slurm_nodes" ("node_id");--> statement-breakpoint
CREATE INDEX "slurm_partitions_tenant_id_id_index" ON "slurm_partitions" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "grants_cluster_id_index" ON "grants" ("cluster_id");--> statement-breakpoint
CREATE INDEX "manifest_objects_tenant_id_owner_index" ON "manifest_objects" ("tenant_id","owner");--> statement-breakpoint
CREATE INDEX "node_bmcs_credential_id_index" ON "node_bmcs" ("credential_id");--> statement-breakpoint
CREATE UNIQUE INDEX "node_interfaces_node_id_index" ON "node_interfaces" ("node_id") WHERE "is_boot";--> statement-breakpoint
CREATE INDEX "bmc_discoveries_tenant_id_id_index" ON "bmc_discoveries" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "bmc_discoveries_credential_id_index" ON "bmc_discoveries" ("credential_id");--> statement-breakpoint
CREATE INDEX "bmc_discoveries_created_at_index" ON "bmc_discoveries" ("created_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "bmc_readings_tenant_id_index" ON "bmc_readings" ("tenant_id");--> statement-breakpoint
CREATE INDEX "bmc_readings_read_at_index" ON "bmc_readings" ("read_at");--> statement-breakpoint
CREATE INDEX "found_bmcs_discovery_id_id_index" ON "found_bmcs" ("discovery_id","id");--> statement-breakpoint
CREATE INDEX "found_bmcs_node_id_index" ON "found_bmcs" ("node_id");--> statement-breakpoint
CREATE INDEX "power_run_items_run_id_id_index" ON "power_run_items" ("run_id","id");--> statement-breakpoint
CREATE INDEX "power_run_items_node_id_id_index" ON "power_run_items" ("node_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "power_run_items_active_unique" ON "power_run_items" ("node_id") WHERE sent_at is not null and result is null;--> statement-breakpoint
CREATE INDEX "power_runs_tenant_id_id_index" ON "power_runs" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "power_runs_created_at_index" ON "power_runs" ("created_at") WHERE finished_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "job_run_batches_job_run_id_number_index" ON "job_run_batches" ("job_run_id","number");--> statement-breakpoint
CREATE INDEX "job_run_batches_tenant_id_id_index" ON "job_run_batches" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "job_run_batches_child_run_id_index" ON "job_run_batches" ("child_run_id");--> statement-breakpoint
CREATE UNIQUE INDEX "job_run_slurm_nodes_job_run_id_name_index" ON "job_run_slurm_nodes" ("job_run_id","name");--> statement-breakpoint
CREATE INDEX "job_run_slurm_nodes_tenant_id_id_index" ON "job_run_slurm_nodes" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "job_run_slurm_nodes_batch_id_index" ON "job_run_slurm_nodes" ("batch_id");--> statement-breakpoint
CREATE INDEX "job_run_slurm_nodes_node_id_index" ON "job_run_slurm_nodes" ("node_id");--> statement-breakpoint
CREATE INDEX "job_runs_slurm_index" ON "job_runs" ("id") WHERE slurm is not null and finished_at is null;--> statement-breakpoint
CREATE INDEX "slurm_action_items_action_id_id_index" ON "slurm_action_items" ("action_id","id");--> statement-breakpoint
CREATE INDEX "slurm_actions_tenant_id_id_index" ON "slurm_actions" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "slurm_actions_cluster_id_id_index" ON "slurm_actions" ("cluster_id","id");--> statement-breakpoint
CREATE INDEX "slurm_actions_created_at_index" ON "slurm_actions" ("created_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "slurm_operation_nodes_tenant_id_id_index" ON "slurm_operation_nodes" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "slurm_operation_nodes_node_id_index" ON "slurm_operation_nodes" ("node_id");--> statement-breakpoint
CREATE INDEX "slurm_operations_tenant_id_id_index" ON "slurm_operations" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "slurm_operations_cluster_id_id_index" ON "slurm_operations" ("cluster_id","id");--> statement-breakpoint
CREATE INDEX "slurm_operations_created_at_index" ON "slurm_operations" ("created_at") WHERE finished_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "slurm_operations_one_unfinished" ON "slurm_operations" ("cluster_id") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "slurm_readiness_checks_tenant_id_id_index" ON "slurm_readiness_checks" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "slurm_readiness_checks_cluster_id_index" ON "slurm_readiness_checks" ("cluster_id");--> statement-breakpoint
CREATE INDEX "slurm_readiness_checks_created_at_index" ON "slurm_readiness_checks" ("created_at") WHERE finished_at is null;--> statement-breakpoint
ALTER TABLE "boot_assignments" ADD CONSTRAINT "boot_assignments_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "boot_assignments" ADD CONSTRAINT "boot_assignments_profile_id_boot_profiles_id_fkey" FOREIGN KEY ("profile_id") REFERENCES "boot_profiles"("id");--> statement-breakpoint
ALTER TABLE "boot_assignments" ADD CONSTRAINT "boot_assignments_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "boot_assignments" ADD CONSTRAINT "boot_assignments_group_id_node_groups_id_fkey" FOREIGN KEY ("group_id") REFERENCES "node_groups"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "boot_assignments" ADD CONSTRAINT "boot_assignments_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "boot_profile_versions" ADD CONSTRAINT "boot_profile_versions_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "boot_profile_versions" ADD CONSTRAINT "boot_profile_versions_profile_id_boot_profiles_id_fkey" FOREIGN KEY ("profile_id") REFERENCES "boot_profiles"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "boot_profile_versions" ADD CONSTRAINT "boot_profile_versions_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "boot_profiles" ADD CONSTRAINT "boot_profiles_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "boot_profiles" ADD CONSTRAINT "boot_profiles_parent_id_boot_profiles_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "boot_profiles"("id");--> statement-breakpoint
ALTER TABLE "boot_profiles" ADD CONSTRAINT "boot_profiles_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "boot_profiles" ADD CONSTRAINT "boot_profiles_updated_by_id_users_id_fkey" FOREIGN KEY ("updated_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "boot_attempts" ADD CONSTRAINT "boot_attempts_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "boot_attempts" ADD CONSTRAINT "boot_attempts_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "boot_fetches" ADD CONSTRAINT "boot_fetches_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "boot_fetches" ADD CONSTRAINT "boot_fetches_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "boot_fetches" ADD CONSTRAINT "boot_fetches_attempt_id_boot_attempts_id_fkey" FOREIGN KEY ("attempt_id") REFERENCES "boot_attempts"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "boot_stage_times" ADD CONSTRAINT "boot_stage_times_attempt_id_boot_attempts_id_fkey" FOREIGN KEY ("attempt_id") REFERENCES "boot_attempts"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "boot_tokens" ADD CONSTRAINT "boot_tokens_attempt_id_boot_attempts_id_fkey" FOREIGN KEY ("attempt_id") REFERENCES "boot_attempts"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "boot_tokens" ADD CONSTRAINT "boot_tokens_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "boot_tokens" ADD CONSTRAINT "boot_tokens_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "unknown_machines" ADD CONSTRAINT "unknown_machines_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "unknown_machines" ADD CONSTRAINT "unknown_machines_accepted_by_id_users_id_fkey" FOREIGN KEY ("accepted_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "unknown_machines" ADD CONSTRAINT "unknown_machines_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "unknown_machines" ADD CONSTRAINT "unknown_machines_rejected_by_id_users_id_fkey" FOREIGN KEY ("rejected_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_cluster_tests" ADD CONSTRAINT "slurm_cluster_tests_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_cluster_tests" ADD CONSTRAINT "slurm_cluster_tests_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_cluster_tests" ADD CONSTRAINT "slurm_cluster_tests_I4HmOXCjtXgn_fkey" FOREIGN KEY ("slurmrestd_credential_id") REFERENCES "credentials"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_clusters" ADD CONSTRAINT "slurm_clusters_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_clusters" ADD CONSTRAINT "slurm_clusters_controller_node_id_compute_nodes_id_fkey" FOREIGN KEY ("controller_node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_clusters" ADD CONSTRAINT "slurm_clusters_backup_node_id_compute_nodes_id_fkey" FOREIGN KEY ("backup_node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_clusters" ADD CONSTRAINT "slurm_clusters_database_node_id_compute_nodes_id_fkey" FOREIGN KEY ("database_node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_clusters" ADD CONSTRAINT "slurm_clusters_slurmrestd_credential_id_credentials_id_fkey" FOREIGN KEY ("slurmrestd_credential_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "slurm_clusters" ADD CONSTRAINT "slurm_clusters_salt_credential_id_credentials_id_fkey" FOREIGN KEY ("salt_credential_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "slurm_clusters" ADD CONSTRAINT "slurm_clusters_node_group_id_node_groups_id_fkey" FOREIGN KEY ("node_group_id") REFERENCES "node_groups"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_clusters" ADD CONSTRAINT "slurm_clusters_read_node_id_compute_nodes_id_fkey" FOREIGN KEY ("read_node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_clusters" ADD CONSTRAINT "slurm_clusters_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_jobs" ADD CONSTRAINT "slurm_jobs_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_jobs" ADD CONSTRAINT "slurm_jobs_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_lookups" ADD CONSTRAINT "slurm_lookups_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_lookups" ADD CONSTRAINT "slurm_lookups_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_node_choices" ADD CONSTRAINT "slurm_node_choices_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_node_choices" ADD CONSTRAINT "slurm_node_choices_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_node_choices" ADD CONSTRAINT "slurm_node_choices_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_nodes" ADD CONSTRAINT "slurm_nodes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_nodes" ADD CONSTRAINT "slurm_nodes_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_nodes" ADD CONSTRAINT "slurm_nodes_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_partitions" ADD CONSTRAINT "slurm_partitions_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_partitions" ADD CONSTRAINT "slurm_partitions_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "manifest_objects" ADD CONSTRAINT "manifest_objects_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "manifest_objects" ADD CONSTRAINT "manifest_objects_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "node_bmcs" ADD CONSTRAINT "node_bmcs_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "node_bmcs" ADD CONSTRAINT "node_bmcs_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "node_bmcs" ADD CONSTRAINT "node_bmcs_credential_id_credentials_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "node_interfaces" ADD CONSTRAINT "node_interfaces_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "node_interfaces" ADD CONSTRAINT "node_interfaces_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "bmc_discoveries" ADD CONSTRAINT "bmc_discoveries_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "bmc_discoveries" ADD CONSTRAINT "bmc_discoveries_credential_id_credentials_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "bmc_discoveries" ADD CONSTRAINT "bmc_discoveries_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "bmc_readings" ADD CONSTRAINT "bmc_readings_bmc_id_node_bmcs_id_fkey" FOREIGN KEY ("bmc_id") REFERENCES "node_bmcs"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "bmc_readings" ADD CONSTRAINT "bmc_readings_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "found_bmcs" ADD CONSTRAINT "found_bmcs_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "found_bmcs" ADD CONSTRAINT "found_bmcs_discovery_id_bmc_discoveries_id_fkey" FOREIGN KEY ("discovery_id") REFERENCES "bmc_discoveries"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "found_bmcs" ADD CONSTRAINT "found_bmcs_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "power_run_items" ADD CONSTRAINT "power_run_items_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "power_run_items" ADD CONSTRAINT "power_run_items_run_id_power_runs_id_fkey" FOREIGN KEY ("run_id") REFERENCES "power_runs"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "power_run_items" ADD CONSTRAINT "power_run_items_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "power_runs" ADD CONSTRAINT "power_runs_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "power_runs" ADD CONSTRAINT "power_runs_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_run_batches" ADD CONSTRAINT "job_run_batches_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "job_run_batches" ADD CONSTRAINT "job_run_batches_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_run_batches" ADD CONSTRAINT "job_run_batches_child_run_id_job_runs_id_fkey" FOREIGN KEY ("child_run_id") REFERENCES "job_runs"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_run_slurm_nodes" ADD CONSTRAINT "job_run_slurm_nodes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "job_run_slurm_nodes" ADD CONSTRAINT "job_run_slurm_nodes_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_run_slurm_nodes" ADD CONSTRAINT "job_run_slurm_nodes_batch_id_job_run_batches_id_fkey" FOREIGN KEY ("batch_id") REFERENCES "job_run_batches"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_run_slurm_nodes" ADD CONSTRAINT "job_run_slurm_nodes_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_action_items" ADD CONSTRAINT "slurm_action_items_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_action_items" ADD CONSTRAINT "slurm_action_items_action_id_slurm_actions_id_fkey" FOREIGN KEY ("action_id") REFERENCES "slurm_actions"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_actions" ADD CONSTRAINT "slurm_actions_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_actions" ADD CONSTRAINT "slurm_actions_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_actions" ADD CONSTRAINT "slurm_actions_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_config_snippets" ADD CONSTRAINT "slurm_config_snippets_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_config_snippets" ADD CONSTRAINT "slurm_config_snippets_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_config_snippets" ADD CONSTRAINT "slurm_config_snippets_updated_by_id_users_id_fkey" FOREIGN KEY ("updated_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_config_versions" ADD CONSTRAINT "slurm_config_versions_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_config_versions" ADD CONSTRAINT "slurm_config_versions_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_config_versions" ADD CONSTRAINT "slurm_config_versions_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_operation_nodes" ADD CONSTRAINT "slurm_operation_nodes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_operation_nodes" ADD CONSTRAINT "slurm_operation_nodes_operation_id_slurm_operations_id_fkey" FOREIGN KEY ("operation_id") REFERENCES "slurm_operations"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_operation_nodes" ADD CONSTRAINT "slurm_operation_nodes_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_operations" ADD CONSTRAINT "slurm_operations_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_operations" ADD CONSTRAINT "slurm_operations_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_operations" ADD CONSTRAINT "slurm_operations_cancel_requested_by_id_users_id_fkey" FOREIGN KEY ("cancel_requested_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_operations" ADD CONSTRAINT "slurm_operations_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_readiness_checks" ADD CONSTRAINT "slurm_readiness_checks_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_readiness_checks" ADD CONSTRAINT "slurm_readiness_checks_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_one_scope" CHECK (num_nonnulls("group_id", "cluster_id") = 1);