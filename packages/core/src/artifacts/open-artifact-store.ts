import { localStore } from './local-store.ts'
import { s3Store } from './s3-store.ts'
import type { ArtifactStore, StoreConfig } from './store.ts'

/** Opens the store that the settings select. */
export const openArtifactStore = (config: StoreConfig): ArtifactStore =>
  config.NODE_ARTIFACTS_BUCKET
    ? s3Store({ ...config, NODE_ARTIFACTS_BUCKET: config.NODE_ARTIFACTS_BUCKET })
    : localStore(config.ARTIFACT_DIR)
