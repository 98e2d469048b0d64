CREATE TABLE "agent_beat_history" (
	"node_id" uuid,
	"bucket_at" timestamp with time zone,
	"beats" integer NOT NULL,
	"missed" integer NOT NULL,
	"cpu_percent" real,
	"memory_percent" real,
	"max_skew_ms" integer,
	CONSTRAINT "agent_beat_history_pkey" PRIMARY KEY("node_id","bucket_at")
) PARTITION BY RANGE ("bucket_at");
--> statement-breakpoint
-- For days that nobody has made a partition for.
CREATE TABLE "agent_beat_history_default" PARTITION OF "agent_beat_history" DEFAULT;
--> statement-breakpoint
CREATE TABLE "agent_beats" (
	"node_id" uuid PRIMARY KEY,
	"boot_epoch" bigint,
	"sequence" bigint,
	"not_before" timestamp with time zone,
	"heard_at" timestamp with time zone,
	"agent_time" timestamp with time zone,
	"skew_ms" integer,
	"intervals" bigint DEFAULT 0 NOT NULL,
	"interval_mean" double precision DEFAULT 0 NOT NULL,
	"interval_m2" double precision DEFAULT 0 NOT NULL,
	"accepted" bigint DEFAULT 0 NOT NULL,
	"missed" bigint DEFAULT 0 NOT NULL,
	"health" text,
	"slurm_state" text,
	"said_drain" text,
	"running_jobs" integer,
	"cpu_percent" real,
	"memory_percent" real,
	"gpus_total" integer,
	"gpus_available" integer,
	"bucket_at" timestamp with time zone,
	"bucket_beats" integer DEFAULT 0 NOT NULL,
	"bucket_missed" integer DEFAULT 0 NOT NULL,
	"bucket_cpu_sum" real DEFAULT 0 NOT NULL,
	"bucket_memory_sum" real DEFAULT 0 NOT NULL,
	"bucket_max_skew_ms" integer DEFAULT 0 NOT NULL
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE TABLE "agent_enrolment_tokens" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid,
	"prefix" text NOT NULL,
	"hash" text NOT NULL UNIQUE,
	"note" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_by_name" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	"used_by_node_id" uuid,
	"used_from" text
);
--> statement-breakpoint
CREATE TABLE "agent_ingest" (
	"id" integer PRIMARY KEY DEFAULT 1,
	"alive_at" timestamp with time zone NOT NULL,
	"up_since" timestamp with time zone NOT NULL,
	"down_from" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "agent_keys" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid,
	"public_key" text NOT NULL,
	"status" text NOT NULL,
	"note" text DEFAULT '' NOT NULL,
	"seen_from" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_by_name" text NOT NULL,
	"approved_at" timestamp with time zone,
	"approved_by_name" text,
	"revoked_at" timestamp with time zone,
	"revoked_by_name" text,
	"revoked_reason" text,
	CONSTRAINT "agent_keys_tenant_id_public_key_unique" UNIQUE("tenant_id","public_key")
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "agent_reports" (
	"node_id" uuid PRIMARY KEY,
	"report" json NOT NULL,
	"heard_at" timestamp with time zone NOT NULL
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE TABLE "agent_settings" (
	"tenant_id" uuid PRIMARY KEY,
	"stale_after_s" integer DEFAULT 120 NOT NULL,
	"offline_after_s" integer DEFAULT 300 NOT NULL,
	"mass_silence_percent" integer DEFAULT 50 NOT NULL,
	"mass_silence_nodes" integer DEFAULT 10 NOT NULL,
	"deregister_after_days" integer,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_silences" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"cluster" text,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"silent" integer NOT NULL,
	"total" integer NOT NULL
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
	"version" text,
	"registered_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_from" text,
	"drain_requested_at" timestamp with time zone,
	"drain_requested_by_name" text,
	"drain_reason" text,
	"held_at" timestamp with time zone,
	CONSTRAINT "agents_tenant_id_agent_id_unique" UNIQUE("tenant_id","agent_id")
);
--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "region" text;--> statement-breakpoint
ALTER TABLE "compute_nodes" ADD COLUMN "datacenter" text;--> statement-breakpoint
CREATE INDEX "agent_enrolment_tokens_tenant_id_id_index" ON "agent_enrolment_tokens" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "agent_enrolment_tokens_node_id_index" ON "agent_enrolment_tokens" ("node_id");--> statement-breakpoint
CREATE INDEX "agent_enrolment_tokens_used_by_node_id_index" ON "agent_enrolment_tokens" ("used_by_node_id");--> statement-breakpoint
CREATE INDEX "agent_keys_public_key_index" ON "agent_keys" ("public_key");--> statement-breakpoint
CREATE INDEX "agent_keys_node_id_index" ON "agent_keys" ("node_id");--> statement-breakpoint
CREATE INDEX "agent_keys_tenant_id_id_index" ON "agent_keys" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "agent_silences_tenant_id_ended_at_index" ON "agent_silences" ("tenant_id","ended_at");--> statement-breakpoint
CREATE INDEX "agent_transitions_node_id_id_index" ON "agent_transitions" ("node_id","id");--> statement-breakpoint
CREATE INDEX "agent_transitions_tenant_id_id_index" ON "agent_transitions" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "agents_agent_id_index" ON "agents" ("agent_id");--> statement-breakpoint
CREATE INDEX "agents_tenant_id_state_index" ON "agents" ("tenant_id","state");--> statement-breakpoint
CREATE INDEX "agents_tenant_id_cluster_index" ON "agents" ("tenant_id","cluster");--> statement-breakpoint
CREATE INDEX "agents_key_id_index" ON "agents" ("key_id");--> statement-breakpoint
CREATE INDEX "agents_state_index" ON "agents" ("state") WHERE state <> 'ACTIVE';--> statement-breakpoint
ALTER TABLE "agent_beats" ADD CONSTRAINT "agent_beats_node_id_agents_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "agents"("node_id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agent_enrolment_tokens" ADD CONSTRAINT "agent_enrolment_tokens_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agent_enrolment_tokens" ADD CONSTRAINT "agent_enrolment_tokens_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agent_enrolment_tokens" ADD CONSTRAINT "agent_enrolment_tokens_used_by_node_id_compute_nodes_id_fkey" FOREIGN KEY ("used_by_node_id") REFERENCES "compute_nodes"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agent_reports" ADD CONSTRAINT "agent_reports_node_id_agents_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "agents"("node_id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agent_settings" ADD CONSTRAINT "agent_settings_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agent_silences" ADD CONSTRAINT "agent_silences_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agent_transitions" ADD CONSTRAINT "agent_transitions_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agent_transitions" ADD CONSTRAINT "agent_transitions_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_key_id_agent_keys_id_fkey" FOREIGN KEY ("key_id") REFERENCES "agent_keys"("id") ON DELETE SET NULL;