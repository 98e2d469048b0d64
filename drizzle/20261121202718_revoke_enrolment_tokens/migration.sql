ALTER TABLE "agent_enrolment_tokens" ADD COLUMN "revoked_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "agent_enrolment_tokens" ADD COLUMN "revoked_by_name" text;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD COLUMN "agent_id" text;