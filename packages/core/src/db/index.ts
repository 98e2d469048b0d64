export { connectDb, type Db } from './client.ts'
export { migrateDb } from './migrate.ts'
export { relations } from './relations.ts'
export * as schema from './schema.ts'
