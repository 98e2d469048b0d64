import { defineDomain } from '../kernel/domain.ts'
import { artifactStoreSettings } from './settings.ts'

export const artifactsDomain = defineDomain({
  name: 'artifacts',
  settings: artifactStoreSettings,
})
