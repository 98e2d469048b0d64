CREATE TABLE "boot_rules" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"priority" integer DEFAULT 100 NOT NULL,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"match" jsonb NOT NULL,
	"names" text NOT NULL,
	"group_id" uuid,
	"profile_id" uuid,
	"max_accepted" integer NOT NULL,
	"accepted" integer DEFAULT 0 NOT NULL,
	"last_accepted_at" timestamp with time zone,
	"problem" text,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"updated_by_id" uuid,
	"updated_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "boot_rules_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "ledger_checkpoints" (
	"tenant_id" uuid,
	"size" bigint,
	"note" text NOT NULL,
	"key_version" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "ledger_checkpoints_pkey" PRIMARY KEY("tenant_id","size")
);
--> statement-breakpoint
CREATE TABLE "ledger_entries" (
	"tenant_id" uuid,
	"seq" bigint,
	"node_id" uuid NOT NULL,
	"node_name" text NOT NULL,
	"record" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "ledger_entries_pkey" PRIMARY KEY("tenant_id","seq")
);
--> statement-breakpoint
CREATE TABLE "ledger_hashes" (
	"tenant_id" uuid,
	"level" integer,
	"index" bigint,
	"hash" bytea NOT NULL,
	CONSTRAINT "ledger_hashes_pkey" PRIMARY KEY("tenant_id","level","index")
);
--> statement-breakpoint
CREATE TABLE "ledger_nodes" (
	"node_id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"digest" text NOT NULL,
	"boot_epoch" bigint,
	"sequence" bigint,
	"seq" bigint NOT NULL,
	"recorded_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger_receipts" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"sink_id" uuid NOT NULL,
	"transaction_hash" text NOT NULL,
	"height" bigint NOT NULL,
	"from_size" bigint NOT NULL,
	"to_size" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger_settings" (
	"tenant_id" uuid PRIMARY KEY,
	"is_enabled" boolean NOT NULL,
	"interval_seconds" integer NOT NULL,
	"max_age_seconds" integer NOT NULL,
	"recorded_at" timestamp with time zone,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger_sinks" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL UNIQUE,
	"name" text NOT NULL,
	"origin" text NOT NULL,
	"chain_id" text NOT NULL,
	"address_prefix" text NOT NULL,
	"type_url" text NOT NULL,
	"provider_address" text,
	"fee_denom" text NOT NULL,
	"fee_per_node" bigint NOT NULL,
	"gas_per_node" integer NOT NULL,
	"encrypted" jsonb DEFAULT '{}' NOT NULL,
	"is_enabled" boolean NOT NULL,
	"address" text,
	"delivered_size" bigint NOT NULL,
	"delivered_at" timestamp with time zone,
	"pending_transaction" text,
	"pending_sequence" bigint,
	"pending_size" bigint,
	"leased_until" timestamp with time zone,
	"lease_token" uuid,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp with time zone,
	"last_error" text,
	"retry_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "openchami_targets" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL UNIQUE,
	"name" text DEFAULT 'OpenCHAMI' NOT NULL,
	"smd_url" text,
	"bss_url" text,
	"ca_certificate" text,
	"encrypted" jsonb DEFAULT '{}' NOT NULL,
	"mode" text DEFAULT 'REPORT' NOT NULL,
	"interval_seconds" integer DEFAULT 3600 NOT NULL,
	"requested_at" timestamp with time zone,
	"requested_mode" text,
	"leased_until" timestamp with time zone,
	"lease_token" uuid,
	"checked_at" timestamp with time zone,
	"error" text,
	"failing_since" timestamp with time zone,
	"differences" jsonb DEFAULT '[]' NOT NULL,
	"difference_count" integer DEFAULT 0 NOT NULL,
	"drift_since" timestamp with time zone,
	"pushed_at" timestamp with time zone,
	"pushed_count" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "schedule_firings" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"schedule_id" uuid NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"outcome" text NOT NULL,
	"reason" text,
	"requested_by_id" uuid,
	"requested_by_name" text,
	"message" text,
	"missed_count" integer DEFAULT 0 NOT NULL,
	"job_run_id" uuid,
	"discovery_ids" uuid[] DEFAULT '{}'::uuid[] NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "schedule_firings_schedule_id_due_at_unique" UNIQUE("schedule_id","due_at")
);
--> statement-breakpoint
CREATE TABLE "schedules" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"target" text NOT NULL,
	"template_id" uuid,
	"limit" text NOT NULL,
	"settings" jsonb DEFAULT '{}' NOT NULL,
	"rule" text NOT NULL,
	"time_zone" text NOT NULL,
	"jitter_seconds" integer DEFAULT 0 NOT NULL,
	"catch_up" text DEFAULT 'skip' NOT NULL,
	"overlap" text DEFAULT 'skip' NOT NULL,
	"blackouts" jsonb DEFAULT '[]' NOT NULL,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"starts_at" timestamp with time zone,
	"ends_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"next_run_at" timestamp with time zone,
	"owner_id" uuid,
	"owner_name" text NOT NULL,
	"is_owned_by_token" boolean DEFAULT false NOT NULL,
	"owner_token_id" uuid,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "schedules_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "slurm_power_requests" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"name" text NOT NULL,
	"node_id" uuid NOT NULL,
	"verb" text NOT NULL,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"power_run_id" uuid,
	"refused_reason" text,
	CONSTRAINT "slurm_power_requests_cluster_id_name_unique" UNIQUE("cluster_id","name")
);
--> statement-breakpoint
CREATE TABLE "slurm_power_savings" (
	"cluster_id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"settings" jsonb NOT NULL,
	"token_hashes" text[] NOT NULL,
	"token_issued_at" timestamp with time zone DEFAULT now() NOT NULL,
	"enabled_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "trigger_deliveries" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"trigger_id" uuid NOT NULL,
	"outcome" text NOT NULL,
	"message" text,
	"key_hash" text,
	"signature_hash" text,
	"body_hash" text NOT NULL,
	"repeat_count" integer DEFAULT 0 NOT NULL,
	"address" text,
	"job_run_id" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "trigger_deliveries_trigger_id_key_hash_unique" UNIQUE("trigger_id","key_hash"),
	CONSTRAINT "trigger_deliveries_trigger_id_signature_hash_unique" UNIQUE("trigger_id","signature_hash")
);
--> statement-breakpoint
CREATE TABLE "triggers" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"template_id" uuid NOT NULL,
	"limit" text NOT NULL,
	"nodes_path" text,
	"settings" jsonb DEFAULT '{}' NOT NULL,
	"variables" jsonb DEFAULT '[]' NOT NULL,
	"signature" text DEFAULT 'muster' NOT NULL,
	"encrypted" jsonb DEFAULT '{}' NOT NULL,
	"secret_created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"max_per_hour" integer NOT NULL,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"owner_id" uuid,
	"owner_name" text NOT NULL,
	"is_owned_by_token" boolean DEFAULT false NOT NULL,
	"owner_token_id" uuid,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "triggers_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "slurm_drains" jsonb DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "rejected_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "rejection_code" text;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "rejection_message" text;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "rejection_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "maintenance_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "maintenance_reason" text;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "maintenance_by_id" uuid;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "maintenance_by_name" text;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "maintenance_run_id" uuid;--> statement-breakpoint
ALTER TABLE "power_runs" ADD COLUMN "slurm_cluster_id" uuid;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "include_offline" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "sets_maintenance" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "hosts_offline" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "boot_rules_group_id_index" ON "boot_rules" ("group_id");--> statement-breakpoint
CREATE INDEX "boot_rules_profile_id_index" ON "boot_rules" ("profile_id");--> statement-breakpoint
CREATE INDEX "ledger_entries_tenant_id_node_id_seq_index" ON "ledger_entries" ("tenant_id","node_id","seq");--> statement-breakpoint
CREATE INDEX "ledger_nodes_tenant_id_index" ON "ledger_nodes" ("tenant_id");--> statement-breakpoint
CREATE INDEX "ledger_receipts_tenant_id_id_index" ON "ledger_receipts" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "ledger_receipts_sink_id_id_index" ON "ledger_receipts" ("sink_id","id");--> statement-breakpoint
CREATE INDEX "compute_nodes_serial_index" ON "compute_nodes" ("tenant_id",left("facts" -> 'dmi' ->> 'serial', 128));--> statement-breakpoint
CREATE INDEX "compute_nodes_uuid_index" ON "compute_nodes" ("tenant_id",lower(left("facts" -> 'dmi' ->> 'uuid', 128)));--> statement-breakpoint
CREATE INDEX "compute_nodes_maintenance_until_index" ON "compute_nodes" ("maintenance_until") WHERE maintenance_until is not null;--> statement-breakpoint
CREATE INDEX "compute_nodes_maintenance_run_id_index" ON "compute_nodes" ("maintenance_run_id") WHERE maintenance_run_id is not null;--> statement-breakpoint
CREATE INDEX "compute_nodes_decommissioned_index" ON "compute_nodes" ("id") WHERE decommissioned_at is not null;--> statement-breakpoint
CREATE INDEX "power_runs_slurm_cluster_id_index" ON "power_runs" ("slurm_cluster_id");--> statement-breakpoint
CREATE INDEX "schedule_firings_tenant_id_id_index" ON "schedule_firings" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "schedule_firings_schedule_id_id_index" ON "schedule_firings" ("schedule_id","id");--> statement-breakpoint
CREATE INDEX "schedule_firings_job_run_id_index" ON "schedule_firings" ("job_run_id");--> statement-breakpoint
CREATE INDEX "schedules_next_run_at_index" ON "schedules" ("next_run_at") WHERE next_run_at is not null;--> statement-breakpoint
CREATE INDEX "schedules_template_id_index" ON "schedules" ("template_id");--> statement-breakpoint
CREATE INDEX "slurm_power_requests_tenant_id_index" ON "slurm_power_requests" ("tenant_id");--> statement-breakpoint
CREATE INDEX "slurm_power_requests_node_id_index" ON "slurm_power_requests" ("node_id");--> statement-breakpoint
CREATE INDEX "slurm_power_requests_power_run_id_index" ON "slurm_power_requests" ("power_run_id");--> statement-breakpoint
CREATE INDEX "slurm_power_savings_tenant_id_index" ON "slurm_power_savings" ("tenant_id");--> statement-breakpoint
CREATE INDEX "slurm_power_savings_token_hashes_index" ON "slurm_power_savings" USING gin ("token_hashes");--> statement-breakpoint
CREATE INDEX "trigger_deliveries_trigger_id_id_index" ON "trigger_deliveries" ("trigger_id","id");--> statement-breakpoint
CREATE INDEX "trigger_deliveries_trigger_id_created_at_index" ON "trigger_deliveries" ("trigger_id","created_at");--> statement-breakpoint
CREATE INDEX "trigger_deliveries_tenant_id_id_index" ON "trigger_deliveries" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "trigger_deliveries_job_run_id_index" ON "trigger_deliveries" ("job_run_id");--> statement-breakpoint
CREATE INDEX "triggers_template_id_index" ON "triggers" ("template_id");--> statement-breakpoint
ALTER TABLE "boot_rules" ADD CONSTRAINT "boot_rules_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "boot_rules" ADD CONSTRAINT "boot_rules_group_id_node_groups_id_fkey" FOREIGN KEY ("group_id") REFERENCES "node_groups"("id");--> statement-breakpoint
ALTER TABLE "boot_rules" ADD CONSTRAINT "boot_rules_profile_id_boot_profiles_id_fkey" FOREIGN KEY ("profile_id") REFERENCES "boot_profiles"("id");--> statement-breakpoint
ALTER TABLE "boot_rules" ADD CONSTRAINT "boot_rules_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "boot_rules" ADD CONSTRAINT "boot_rules_updated_by_id_users_id_fkey" FOREIGN KEY ("updated_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "ledger_checkpoints" ADD CONSTRAINT "ledger_checkpoints_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "ledger_hashes" ADD CONSTRAINT "ledger_hashes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "ledger_nodes" ADD CONSTRAINT "ledger_nodes_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "ledger_nodes" ADD CONSTRAINT "ledger_nodes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "ledger_receipts" ADD CONSTRAINT "ledger_receipts_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "ledger_receipts" ADD CONSTRAINT "ledger_receipts_sink_id_ledger_sinks_id_fkey" FOREIGN KEY ("sink_id") REFERENCES "ledger_sinks"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "ledger_settings" ADD CONSTRAINT "ledger_settings_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "ledger_sinks" ADD CONSTRAINT "ledger_sinks_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD CONSTRAINT "compute_nodes_maintenance_by_id_users_id_fkey" FOREIGN KEY ("maintenance_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "openchami_targets" ADD CONSTRAINT "openchami_targets_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "power_runs" ADD CONSTRAINT "power_runs_slurm_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("slurm_cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "schedule_firings" ADD CONSTRAINT "schedule_firings_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "schedule_firings" ADD CONSTRAINT "schedule_firings_schedule_id_schedules_id_fkey" FOREIGN KEY ("schedule_id") REFERENCES "schedules"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "schedule_firings" ADD CONSTRAINT "schedule_firings_requested_by_id_users_id_fkey" FOREIGN KEY ("requested_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "schedule_firings" ADD CONSTRAINT "schedule_firings_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_template_id_job_templates_id_fkey" FOREIGN KEY ("template_id") REFERENCES "job_templates"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_owner_id_users_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_owner_token_id_api_tokens_id_fkey" FOREIGN KEY ("owner_token_id") REFERENCES "api_tokens"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_power_requests" ADD CONSTRAINT "slurm_power_requests_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_power_requests" ADD CONSTRAINT "slurm_power_requests_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_power_requests" ADD CONSTRAINT "slurm_power_requests_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_power_requests" ADD CONSTRAINT "slurm_power_requests_power_run_id_power_runs_id_fkey" FOREIGN KEY ("power_run_id") REFERENCES "power_runs"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_power_savings" ADD CONSTRAINT "slurm_power_savings_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_power_savings" ADD CONSTRAINT "slurm_power_savings_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "trigger_deliveries" ADD CONSTRAINT "trigger_deliveries_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "trigger_deliveries" ADD CONSTRAINT "trigger_deliveries_trigger_id_triggers_id_fkey" FOREIGN KEY ("trigger_id") REFERENCES "triggers"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "trigger_deliveries" ADD CONSTRAINT "trigger_deliveries_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_template_id_job_templates_id_fkey" FOREIGN KEY ("template_id") REFERENCES "job_templates"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_owner_id_users_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_owner_token_id_api_tokens_id_fkey" FOREIGN KEY ("owner_token_id") REFERENCES "api_tokens"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;