ALTER TABLE "job_runs" ADD COLUMN "git_credential_id" uuid;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "git_credential_id" uuid;--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_git_credential_id_credentials_id_fkey" FOREIGN KEY ("git_credential_id") REFERENCES "credentials"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_templates" ADD CONSTRAINT "job_templates_git_credential_id_credentials_id_fkey" FOREIGN KEY ("git_credential_id") REFERENCES "credentials"("id");