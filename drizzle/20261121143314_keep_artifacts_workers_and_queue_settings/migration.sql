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
CREATE TABLE "workers" (
	"id" uuid PRIMARY KEY,
	"name" text NOT NULL UNIQUE,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"version" text NOT NULL,
	"ansible_version" text NOT NULL,
	"concurrency" integer NOT NULL,
	"running" integer DEFAULT 0 NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"touched_at" timestamp with time zone DEFAULT now() NOT NULL,
	"draining_at" timestamp with time zone,
	"drained_by_name" text
);
--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "log_removed_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "runs_at_once" integer;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "queue_paused_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "queue_paused_by_name" text;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "queue_pause_reason" text;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "keep_log_days" integer;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "keep_artifact_days" integer;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "keep_run_days" integer;--> statement-breakpoint
CREATE INDEX "job_artifacts_job_run_id_index" ON "job_artifacts" ("job_run_id");--> statement-breakpoint
CREATE INDEX "job_artifacts_tenant_id_created_at_index" ON "job_artifacts" ("tenant_id","created_at") WHERE removed_at is null;--> statement-breakpoint
CREATE INDEX "job_runs_queue_index" ON "job_runs" ("tenant_id","id") WHERE finished_at is null and started_at is null and waiting_since is null;--> statement-breakpoint
CREATE INDEX "job_runs_begun_index" ON "job_runs" ("tenant_id") WHERE finished_at is null and started_at is not null;--> statement-breakpoint
CREATE INDEX "job_runs_tenant_id_finished_at_index" ON "job_runs" ("tenant_id","finished_at");--> statement-breakpoint
ALTER TABLE "job_artifacts" ADD CONSTRAINT "job_artifacts_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "job_artifacts" ADD CONSTRAINT "job_artifacts_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE CASCADE;