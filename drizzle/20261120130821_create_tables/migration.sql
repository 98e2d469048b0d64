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
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_tokens" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"prefix" text NOT NULL,
	"hash" text NOT NULL UNIQUE,
	"created_by_id" uuid,
	"expires_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text,
	"actor_name" text NOT NULL,
	"action" text NOT NULL,
	"object_id" uuid NOT NULL,
	"object_name" text,
	"details" jsonb DEFAULT '{}' NOT NULL,
	"request_id" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
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
CREATE TABLE "connection_tests" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
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
	"public_key" text,
	"sealed" jsonb DEFAULT '{}' NOT NULL,
	"last_used_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "credentials_tenant_id_name_unique" UNIQUE("tenant_id","name")
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
	"message" text,
	CONSTRAINT "job_run_hosts_pkey" PRIMARY KEY("job_run_id","name")
);
--> statement-breakpoint
CREATE TABLE "job_runs" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"template_id" uuid NOT NULL,
	"template_name" text NOT NULL,
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
	"reason" text,
	"idempotency_key" text,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"cancel_requested_at" timestamp with time zone,
	"cancel_requested_by_name" text,
	"exec_at" timestamp with time zone,
	"ended_by" text,
	"exit_code" integer,
	"error" text,
	"mid_task_hosts" text[] DEFAULT '{}'::text[] NOT NULL,
	"claim_token" uuid,
	"claimed_by" text,
	"touched_at" timestamp with time zone,
	"retried_at" timestamp with time zone,
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
          when ended_by = 'cancel' then 'CANCELED'
          when ended_by = 'timeout' then 'TIMED_OUT'
          when ended_by in ('error', 'lost') then 'ERROR'
          when exit_code = 0 and hosts_failed + hosts_unreachable = 0 then 'SUCCEEDED'
          when exit_code in (0, 2, 4) and hosts_ok > 0 and hosts_failed + hosts_unreachable > 0 then 'PARTIAL'
          when hosts_ok + hosts_failed + hosts_unreachable = 0 then 'ERROR'
          else 'FAILED' end) STORED NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_templates" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"display_name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"category" text NOT NULL,
	"playbook_path" text NOT NULL,
	"become" boolean DEFAULT false NOT NULL,
	"become_method" text DEFAULT 'sudo' NOT NULL,
	"become_user" text DEFAULT 'root' NOT NULL,
	"timeout_seconds" integer DEFAULT 3600 NOT NULL,
	"forks" integer DEFAULT 20 NOT NULL,
	"default_vars" jsonb DEFAULT '{}' NOT NULL,
	"tags" text[] DEFAULT '{}'::text[] NOT NULL,
	"is_system" boolean DEFAULT false NOT NULL,
	"is_idempotent" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "job_templates_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "members" (
	"tenant_id" uuid,
	"user_id" uuid,
	"role" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "members_pkey" PRIMARY KEY("user_id","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "node_group_members" (
	"group_id" uuid,
	"node_id" uuid,
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
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "node_groups_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY,
	"user_id" uuid NOT NULL,
	"token" text NOT NULL UNIQUE,
	"expires_at" timestamp with time zone NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" uuid PRIMARY KEY,
	"name" text NOT NULL UNIQUE,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY,
	"name" text NOT NULL,
	"email" text NOT NULL UNIQUE,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
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
CREATE INDEX "accelerators_tenant_id_device_type_index" ON "accelerators" ("tenant_id","device_type");--> statement-breakpoint
CREATE INDEX "accelerators_tenant_id_id_index" ON "accelerators" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "accounts_user_id_index" ON "accounts" ("user_id");--> statement-breakpoint
CREATE INDEX "api_tokens_tenant_id_index" ON "api_tokens" ("tenant_id");--> statement-breakpoint
CREATE INDEX "audit_entries_tenant_id_id_index" ON "audit_entries" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_object_id_index" ON "audit_entries" ("object_id");--> statement-breakpoint
CREATE INDEX "compute_nodes_tenant_id_status_index" ON "compute_nodes" ("tenant_id","status");--> statement-breakpoint
CREATE INDEX "compute_nodes_tenant_id_id_index" ON "compute_nodes" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "compute_nodes_tags_index" ON "compute_nodes" USING gin ("tags");--> statement-breakpoint
CREATE INDEX "compute_nodes_credential_id_index" ON "compute_nodes" ("credential_id");--> statement-breakpoint
CREATE INDEX "compute_nodes_become_credential_id_index" ON "compute_nodes" ("become_credential_id");--> statement-breakpoint
CREATE INDEX "compute_nodes_bastion_id_index" ON "compute_nodes" ("bastion_id");--> statement-breakpoint
CREATE INDEX "connection_tests_node_id_id_index" ON "connection_tests" ("node_id","id");--> statement-breakpoint
CREATE INDEX "connection_tests_tenant_id_id_index" ON "connection_tests" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "connection_tests_created_at_index" ON "connection_tests" ("created_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "credentials_via_id_index" ON "credentials" ("via_id");--> statement-breakpoint
CREATE INDEX "discoveries_node_id_id_index" ON "discoveries" ("node_id","id");--> statement-breakpoint
CREATE INDEX "discoveries_tenant_id_id_index" ON "discoveries" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "discoveries_created_at_index" ON "discoveries" ("created_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "job_run_hosts_node_id_index" ON "job_run_hosts" ("node_id");--> statement-breakpoint
CREATE INDEX "job_runs_tenant_id_id_index" ON "job_runs" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "job_runs_template_id_index" ON "job_runs" ("template_id");--> statement-breakpoint
CREATE INDEX "job_runs_touched_at_index" ON "job_runs" ("touched_at") WHERE finished_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "job_runs_tenant_id_idempotency_key_index" ON "job_runs" ("tenant_id","idempotency_key");--> statement-breakpoint
CREATE INDEX "node_group_members_node_id_index" ON "node_group_members" ("node_id");--> statement-breakpoint
CREATE INDEX "sessions_user_id_index" ON "sessions" ("user_id");--> statement-breakpoint
CREATE INDEX "verifications_identifier_index" ON "verifications" ("identifier");--> statement-breakpoint
ALTER TABLE "accelerators" ADD CONSTRAINT "accelerators_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "accelerators" ADD CONSTRAINT "accelerators_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_users_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_credential_id_credentials_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_become_credential_id_credentials_id_fkey" FOREIGN KEY ("become_credential_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_bastion_id_credentials_id_fkey" FOREIGN KEY ("bastion_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "connection_tests" ADD CONSTRAINT "connection_tests_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "connection_tests" ADD CONSTRAINT "connection_tests_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_via_id_credentials_id_fkey" FOREIGN KEY ("via_id") REFERENCES "credentials"("id");--> statement-breakpoint
ALTER TABLE "discoveries" ADD CONSTRAINT "discoveries_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "discoveries" ADD CONSTRAINT "discoveries_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "discovery_evidence" ADD CONSTRAINT "discovery_evidence_discovery_id_discoveries_id_fkey" FOREIGN KEY ("discovery_id") REFERENCES "discoveries"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_run_events" ADD CONSTRAINT "job_run_events_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_run_hosts" ADD CONSTRAINT "job_run_hosts_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_run_hosts" ADD CONSTRAINT "job_run_hosts_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_template_id_job_templates_id_fkey" FOREIGN KEY ("template_id") REFERENCES "job_templates"("id");--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_templates" ADD CONSTRAINT "job_templates_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_users_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "node_group_members" ADD CONSTRAINT "node_group_members_group_id_node_groups_id_fkey" FOREIGN KEY ("group_id") REFERENCES "node_groups"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "node_group_members" ADD CONSTRAINT "node_group_members_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "node_groups" ADD CONSTRAINT "node_groups_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE;