CREATE TABLE "reseal_failures" (
	"object_id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"key_version" integer NOT NULL,
	"reason" text NOT NULL,
	"failed_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "secret_stores" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"address" text NOT NULL,
	"namespace" text,
	"mount" text DEFAULT 'secret' NOT NULL,
	"auth" text NOT NULL,
	"role_id" text,
	"sealed" jsonb DEFAULT '{}' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "secret_stores_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
ALTER TABLE "connection_tests" ADD COLUMN "credential_id" uuid;--> statement-breakpoint
ALTER TABLE "credentials" ADD COLUMN "secret_store_id" uuid;--> statement-breakpoint
ALTER TABLE "credentials" ADD COLUMN "secret_refs" jsonb DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "credentials" ADD COLUMN "last_result_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "credentials" ADD COLUMN "last_result_error" text;--> statement-breakpoint
CREATE INDEX "connection_tests_credential_id_index" ON "connection_tests" ("credential_id");--> statement-breakpoint
CREATE INDEX "credentials_secret_store_id_index" ON "credentials" ("secret_store_id");--> statement-breakpoint
ALTER TABLE "connection_tests" ADD CONSTRAINT "connection_tests_credential_id_credentials_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_secret_store_id_secret_stores_id_fkey" FOREIGN KEY ("secret_store_id") REFERENCES "secret_stores"("id");--> statement-breakpoint
ALTER TABLE "reseal_failures" ADD CONSTRAINT "reseal_failures_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "secret_stores" ADD CONSTRAINT "secret_stores_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");