ALTER TABLE "workers" ADD COLUMN "isolation" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "isolation_weakness" text;