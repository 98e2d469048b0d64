ALTER TABLE "node_group_members" DROP CONSTRAINT "node_group_members_group_id_node_groups_id_fkey";--> statement-breakpoint
ALTER TABLE "node_group_members" ADD COLUMN "exclusive_set" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "node_groups" ADD COLUMN "parent_id" uuid;--> statement-breakpoint
ALTER TABLE "node_groups" ADD COLUMN "member_query" text;--> statement-breakpoint
ALTER TABLE "node_groups" ADD COLUMN "exclusive_set" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "node_groups" ADD CONSTRAINT "node_groups_id_exclusive_set_unique" UNIQUE("id","exclusive_set");--> statement-breakpoint
CREATE UNIQUE INDEX "node_group_members_one_of_a_set" ON "node_group_members" ("node_id","exclusive_set") WHERE "exclusive_set" <> '';--> statement-breakpoint
CREATE INDEX "node_groups_parent_id_index" ON "node_groups" ("parent_id");--> statement-breakpoint
ALTER TABLE "node_group_members" ADD CONSTRAINT "node_group_members_group" FOREIGN KEY ("group_id","exclusive_set") REFERENCES "node_groups"("id","exclusive_set") ON DELETE CASCADE ON UPDATE CASCADE;--> statement-breakpoint
ALTER TABLE "node_groups" ADD CONSTRAINT "node_groups_parent_id_node_groups_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "node_groups"("id");--> statement-breakpoint
ALTER TABLE "node_groups" ADD CONSTRAINT "node_groups_query_without_set" CHECK ("member_query" is null or "exclusive_set" = '');