import { eq } from 'drizzle-orm'
import type { Runtime } from '../context.ts'
import { workers } from './tables.ts'

/** A worker process says that it ends. */
export async function endWorker({ db }: Pick<Runtime, 'db'>, id: string): Promise<void> {
  await db.delete(workers).where(eq(workers.id, id))
}
