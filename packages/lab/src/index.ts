/** Real SSH hosts: `startLab`, `createLab` from `@muster/lab/testing` in tests, or `startSshFarm` for hundreds of hosts. */
export { buildDeb, downloadDeb, newSigningKey, type SigningKey, type StubPackage, writeAptIndex } from './apt-repository.ts'
export { describeLab, type LabDescription } from './describe.ts'
export { type Farm, type FarmAnswer, type FarmCall, type FarmHost, type FarmOptions, startSshFarm } from './farm.ts'
export { type ProfileName, profiles } from './profiles.ts'
export { relayToRack } from './relay-to-rack.ts'
export { type FolderServer, serveFolder } from './serve-folder.ts'
export { listLabs, type OwnedLab, startLab } from './start-lab.ts'
export type * from './types.ts'
