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
ALTER TABLE "power_runs" ADD COLUMN "slurm_cluster_id" uuid;--> statement-breakpoint
CREATE INDEX "boot_rules_group_id_index" ON "boot_rules" ("group_id");--> statement-breakpoint
CREATE INDEX "boot_rules_profile_id_index" ON "boot_rules" ("profile_id");--> statement-breakpoint
CREATE INDEX "compute_nodes_serial_index" ON "compute_nodes" ("tenant_id",left("facts" -> 'dmi' ->> 'serial', 128));--> statement-breakpoint
CREATE INDEX "compute_nodes_uuid_index" ON "compute_nodes" ("tenant_id",lower(left("facts" -> 'dmi' ->> 'uuid', 128)));--> statement-breakpoint
CREATE INDEX "power_runs_slurm_cluster_id_index" ON "power_runs" ("slurm_cluster_id");--> statement-breakpoint
CREATE INDEX "slurm_power_requests_tenant_id_index" ON "slurm_power_requests" ("tenant_id");--> statement-breakpoint
CREATE INDEX "slurm_power_requests_node_id_index" ON "slurm_power_requests" ("node_id");--> statement-breakpoint
CREATE INDEX "slurm_power_requests_power_run_id_index" ON "slurm_power_requests" ("power_run_id");--> statement-breakpoint
CREATE INDEX "slurm_power_savings_tenant_id_index" ON "slurm_power_savings" ("tenant_id");--> statement-breakpoint
CREATE INDEX "slurm_power_savings_token_hashes_index" ON "slurm_power_savings" USING gin ("token_hashes");--> statement-breakpoint
ALTER TABLE "boot_rules" ADD CONSTRAINT "boot_rules_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "boot_rules" ADD CONSTRAINT "boot_rules_group_id_node_groups_id_fkey" FOREIGN KEY ("group_id") REFERENCES "node_groups"("id");--> statement-breakpoint
ALTER TABLE "boot_rules" ADD CONSTRAINT "boot_rules_profile_id_boot_profiles_id_fkey" FOREIGN KEY ("profile_id") REFERENCES "boot_profiles"("id");--> statement-breakpoint
ALTER TABLE "boot_rules" ADD CONSTRAINT "boot_rules_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "boot_rules" ADD CONSTRAINT "boot_rules_updated_by_id_users_id_fkey" FOREIGN KEY ("updated_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "power_runs" ADD CONSTRAINT "power_runs_slurm_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("slurm_cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_power_requests" ADD CONSTRAINT "slurm_power_requests_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "slurm_power_requests" ADD CONSTRAINT "slurm_power_requests_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_power_requests" ADD CONSTRAINT "slurm_power_requests_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_power_requests" ADD CONSTRAINT "slurm_power_requests_power_run_id_power_runs_id_fkey" FOREIGN KEY ("power_run_id") REFERENCES "power_runs"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "slurm_power_savings" ADD CONSTRAINT "slurm_power_savings_cluster_id_slurm_clusters_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "slurm_clusters"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "slurm_power_savings" ADD CONSTRAINT "slurm_power_savings_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");