CREATE TABLE "variable_scopes" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"group_id" uuid UNIQUE,
	"node_id" uuid UNIQUE,
	"source" text DEFAULT '' NOT NULL,
	"vars" jsonb DEFAULT '{}' NOT NULL,
	"secrets" jsonb DEFAULT '{}' NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"updated_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "variable_scopes_one_place" CHECK (num_nonnulls("group_id", "node_id") <= 1)
);
--> statement-breakpoint
CREATE TABLE "variable_secrets" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"scope_id" uuid NOT NULL,
	"name" text NOT NULL,
	"sealed" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "variable_versions" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"scope_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"source" text NOT NULL,
	"vars" jsonb NOT NULL,
	"secrets" jsonb NOT NULL,
	"reason" text,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "variable_versions_scope_id_version_unique" UNIQUE("scope_id","version")
);
--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "var_merge" text DEFAULT 'replace' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "variable_scopes_one_global" ON "variable_scopes" ("tenant_id") WHERE group_id is null and node_id is null;--> statement-breakpoint
CREATE INDEX "variable_scopes_tenant_id_index" ON "variable_scopes" ("tenant_id");--> statement-breakpoint
CREATE INDEX "variable_secrets_scope_id_index" ON "variable_secrets" ("scope_id");--> statement-breakpoint
ALTER TABLE "variable_scopes" ADD CONSTRAINT "variable_scopes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "variable_scopes" ADD CONSTRAINT "variable_scopes_group_id_node_groups_id_fkey" FOREIGN KEY ("group_id") REFERENCES "node_groups"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "variable_scopes" ADD CONSTRAINT "variable_scopes_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "variable_secrets" ADD CONSTRAINT "variable_secrets_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "variable_secrets" ADD CONSTRAINT "variable_secrets_scope_id_variable_scopes_id_fkey" FOREIGN KEY ("scope_id") REFERENCES "variable_scopes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "variable_versions" ADD CONSTRAINT "variable_versions_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "variable_versions" ADD CONSTRAINT "variable_versions_scope_id_variable_scopes_id_fkey" FOREIGN KEY ("scope_id") REFERENCES "variable_scopes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "variable_versions" ADD CONSTRAINT "variable_versions_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;