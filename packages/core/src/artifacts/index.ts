export { localStore } from './local-store.ts'
export { attachment } from './s3-store.ts'
export { linkIsGood, signLink } from './signed-link.ts'
export { type ArtifactStore, openArtifactStore, type StoreConfig, type StoreName } from './store.ts'
