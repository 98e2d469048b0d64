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
ALTER TABLE "job_runs" ADD COLUMN "template_version" integer;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "source" text DEFAULT 'shipped' NOT NULL;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "bundle_id" uuid;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "git_url" text;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "git_ref" text;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "git_commit" text;--> statement-breakpoint
ALTER TABLE "job_runs" ADD COLUMN "sealed_vars" jsonb DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "source" text DEFAULT 'shipped' NOT NULL;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "bundle_id" uuid;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "git_url" text;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "git_ref" text;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "serial" text;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "max_fail_percentage" smallint;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "job_tags" text[] DEFAULT '{}'::text[] NOT NULL;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "skip_tags" text[] DEFAULT '{}'::text[] NOT NULL;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "input_schema" jsonb;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "is_read_only" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "job_templates" ADD COLUMN "archived_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "job_runs" ADD CONSTRAINT "job_runs_bundle_id_playbook_bundles_id_fkey" FOREIGN KEY ("bundle_id") REFERENCES "playbook_bundles"("id");--> statement-breakpoint
ALTER TABLE "job_template_versions" ADD CONSTRAINT "job_template_versions_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "job_template_versions" ADD CONSTRAINT "job_template_versions_template_id_job_templates_id_fkey" FOREIGN KEY ("template_id") REFERENCES "job_templates"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "job_template_versions" ADD CONSTRAINT "job_template_versions_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "job_templates" ADD CONSTRAINT "job_templates_bundle_id_playbook_bundles_id_fkey" FOREIGN KEY ("bundle_id") REFERENCES "playbook_bundles"("id");--> statement-breakpoint
ALTER TABLE "playbook_bundles" ADD CONSTRAINT "playbook_bundles_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "playbook_bundles" ADD CONSTRAINT "playbook_bundles_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;