import type { Runtime } from '../context.ts'
import { type Worker, workers } from './tables.ts'

type NewWorker = Pick<Worker, 'name' | 'host' | 'pid' | 'version' | 'ansibleVersion' | 'concurrency'>

/** A worker process says that it is there. @returns its id */
export async function registerWorker({ db }: Pick<Runtime, 'db'>, worker: NewWorker): Promise<string> {
  const [row] = await db.insert(workers).values(worker).returning({ id: workers.id })
  return row!.id
}
