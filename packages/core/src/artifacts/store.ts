import type { Readable } from 'node:stream'
import type { Config } from '../kernel/config.ts'
import type { artifactStoreSettings } from './settings.ts'

export type StoreName = 'local' | 's3'

/** Storage for files of runs. Keys contain only ids: `<tenant>/<run>/<artifact>`. */
export type ArtifactStore = {
  name: StoreName
  /** Stores `file` under `key`, completely or not. May be repeated. @throws Error with a message for the operator */
  put(key: string, file: string, size: number): Promise<void>
  /** @throws Error when the file is missing or the store is unavailable */
  open(key: string): Promise<Readable>
  /** Missing keys count as removed. */
  remove(keys: string[]): Promise<void>
  /** Returns a temporary URL of the file that needs no login; null when the API must serve the file. */
  link(key: string, options: { fileName: string; seconds: number }): Promise<string | null>
  /** Why the store cannot accept files now; null when it can. */
  notReadyReason(): Promise<string | null>
}

export type StoreConfig = Config<typeof artifactStoreSettings>
