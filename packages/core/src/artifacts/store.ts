import type { Readable } from 'node:stream'
import type { Config } from '../kernel/config.ts'
import type { artifactStoreSettings } from './settings.ts'

export type StoreName = 'local' | 's3'

/** Where files of runs lie. Keys are ours: `<tenant>/<run>/<artifact>`, ids only. */
export type ArtifactStore = {
  name: StoreName
  /** Keep `file` under `key`; the whole of it or nothing. May be repeated. @throws Error in the operator's words */
  put(key: string, file: string, size: number): Promise<void>
  /** @throws Error when it is not there or the store is away */
  open(key: string): Promise<Readable>
  /** What is not there is gone already. */
  remove(keys: string[]): Promise<void>
  /** An address that gives the file to whoever has it, for a while; null: the API must give it. */
  link(key: string, options: { fileName: string; seconds: number }): Promise<string | null>
  /** Why nothing can be kept there now; null: it can. */
  notReadyReason(): Promise<string | null>
}

export type StoreConfig = Config<typeof artifactStoreSettings>
