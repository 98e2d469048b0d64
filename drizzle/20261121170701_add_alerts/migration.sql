CREATE TABLE "alert_deliveries" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"route_id" uuid NOT NULL,
	"event" text NOT NULL,
	"alerts" jsonb DEFAULT '[]' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"attempted_at" timestamp with time zone,
	"last_error" text,
	"delivered_at" timestamp with time zone,
	"failed_at" timestamp with time zone,
	"status" text GENERATED ALWAYS AS (case when delivered_at is not null then 'DELIVERED' when failed_at is not null then 'FAILED' else 'PENDING' end) STORED NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alert_routes" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"settings" jsonb DEFAULT '{}' NOT NULL,
	"sealed" jsonb DEFAULT '{}' NOT NULL,
	"matcher" jsonb DEFAULT '{}' NOT NULL,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"tells_resolved" boolean DEFAULT true NOT NULL,
	"leased_until" timestamp with time zone,
	"lease_token" uuid,
	"failing_since" timestamp with time zone,
	"last_error" text,
	"retry_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "alert_routes_tenant_id_name_unique" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "alert_silences" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"matcher" jsonb NOT NULL,
	"reason" text NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"created_by_id" uuid,
	"created_by_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alerts" (
	"id" uuid PRIMARY KEY,
	"tenant_id" uuid NOT NULL,
	"node_id" uuid,
	"cluster" text,
	"kind" text NOT NULL,
	"severity" text NOT NULL,
	"key" text NOT NULL,
	"is_latest" boolean DEFAULT true NOT NULL,
	"opened_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_at" timestamp with time zone DEFAULT now() NOT NULL,
	"count" integer DEFAULT 1 NOT NULL,
	"resolved_at" timestamp with time zone,
	"acknowledged_at" timestamp with time zone,
	"acknowledged_by_id" uuid,
	"acknowledged_by_name" text,
	"acknowledgement" text,
	"evidence" jsonb DEFAULT '{}' NOT NULL,
	"announced" text,
	"announced_at" timestamp with time zone,
	"announce_at" timestamp with time zone
);
--> statement-breakpoint
CREATE INDEX "alert_deliveries_pending_index" ON "alert_deliveries" ("route_id","id") WHERE delivered_at is null and failed_at is null;--> statement-breakpoint
CREATE INDEX "alert_deliveries_route_id_id_index" ON "alert_deliveries" ("route_id","id");--> statement-breakpoint
CREATE INDEX "alert_deliveries_tenant_id_id_index" ON "alert_deliveries" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "alert_deliveries_alerts_index" ON "alert_deliveries" USING gin ("alerts" jsonb_path_ops);--> statement-breakpoint
CREATE INDEX "alert_silences_tenant_id_ends_at_index" ON "alert_silences" ("tenant_id","ends_at");--> statement-breakpoint
CREATE UNIQUE INDEX "alerts_tenant_id_kind_key_index" ON "alerts" ("tenant_id","kind","key") WHERE is_latest;--> statement-breakpoint
CREATE INDEX "alerts_tenant_id_id_index" ON "alerts" ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "alerts_node_id_id_index" ON "alerts" ("node_id","id");--> statement-breakpoint
CREATE INDEX "alerts_open_index" ON "alerts" ("tenant_id","last_at") WHERE resolved_at is null;--> statement-breakpoint
CREATE INDEX "alerts_announce_index" ON "alerts" ("announce_at") WHERE announce_at is not null;--> statement-breakpoint
ALTER TABLE "alert_deliveries" ADD CONSTRAINT "alert_deliveries_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "alert_deliveries" ADD CONSTRAINT "alert_deliveries_route_id_alert_routes_id_fkey" FOREIGN KEY ("route_id") REFERENCES "alert_routes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "alert_routes" ADD CONSTRAINT "alert_routes_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "alert_silences" ADD CONSTRAINT "alert_silences_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "alert_silences" ADD CONSTRAINT "alert_silences_created_by_id_users_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE SET NULL;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_tenant_id_tenants_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id");--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_node_id_compute_nodes_id_fkey" FOREIGN KEY ("node_id") REFERENCES "compute_nodes"("id") ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_acknowledged_by_id_users_id_fkey" FOREIGN KEY ("acknowledged_by_id") REFERENCES "users"("id") ON DELETE SET NULL;