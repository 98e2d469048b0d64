CREATE TABLE "run_secrets" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"sealed" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "secrets_id" uuid;--> statement-breakpoint
ALTER TABLE "job_runs" DROP COLUMN "sealed_vars";--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_secrets_id_run_secrets_id_fkey" FOREIGN KEY ("secrets_id") REFERENCES "run_secrets"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "run_secrets" ADD CONSTRAINT "run_secrets_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");