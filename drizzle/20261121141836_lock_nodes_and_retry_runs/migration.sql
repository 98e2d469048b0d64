CREATE TABLE "node_locks" (
	"node_id" uuid,
	"job_run_id" uuid,
	"acquired_at" timestamp with time zone,
	CONSTRAINT "node_locks_pkey" PRIMARY KEY("node_id","job_run_id")
);
--> statement-breakpoint
ALTER TABLE "job_run_hosts" ADD COLUMN "current_task_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "job_run_hosts" ADD COLUMN "failure_signature" text;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "serial" text;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "max_fail_percentage" smallint;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "job_tags" text[] DEFAULT '{}'::text[] NOT NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "skip_tags" text[] DEFAULT '{}'::text[] NOT NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "is_read_only" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "parent_run_id" uuid;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "attempt" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "waiting_since" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "job_run_hosts_failure_signature_index" ON "job_run_hosts" ("failure_signature") WHERE failure_signature is not null;--> statement-breakpoint
CREATE INDEX "job_runs_waiting_since_index" ON "job_runs" ("waiting_since") WHERE waiting_since is not null;--> statement-breakpoint
CREATE INDEX "job_runs_parent_run_id_index" ON "job_runs" ("parent_run_id");--> statement-breakpoint
CREATE INDEX "node_locks_job_run_id_index" ON "node_locks" ("job_run_id");--> statement-breakpoint
CREATE UNIQUE INDEX "node_locks_acquired_unique" ON "node_locks" ("node_id") WHERE acquired_at is not null;--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_parent_run_id_job_runs_id_fkey" FOREIGN KEY ("parent_run_id") REFERENCES "job_runs"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "node_locks" ADD CONSTRAINT "node_locks_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "node_locks" ADD CONSTRAINT "node_locks_job_run_id_job_runs_id_fkey" FOREIGN KEY ("job_run_id") REFERENCES "job_runs"("id") ON DELETE CASCADE;