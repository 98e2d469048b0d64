import type { Runtime } from '../context.ts'
import { workers } from './tables.ts'

/** What a worker process knows of itself. */
export type WorkerFacts = Pick<
  typeof workers.$inferInsert,
  'name' | 'host' | 'pid' | 'version' | 'ansibleVersion' | 'isolation' | 'isolationWeakness' | 'concurrency'
>

/** A worker process says that it is there. @returns its id */
export async function registerWorker({ db }: Pick<Runtime, 'db'>, worker: WorkerFacts): Promise<string> {
  const [row] = await db.insert(workers).values(worker).returning({ id: workers.id })
  return row!.id
}
