/** Real SSH hosts for trying things out: `labUp`, or `given.lab` of `@muster/lab/given` in tests, or `sshFarm` for hundreds. */
export { buildDeb, downloadDeb, newSigningKey, type SigningKey, type StubPackage, writeAptIndex } from './apt-repository.ts'
export { describeLab, type LabDescription } from './describe.ts'
export { type Farm, type FarmAnswer, type FarmCall, type FarmHost, type FarmOptions, sshFarm } from './farm.ts'
export { type ProfileName, profiles } from './profiles.ts'
export { relayIntoRack } from './rack-relay.ts'
export { type FolderServer, serveFolder } from './serve-folder.ts'
export type * from './types.ts'
export { labUp, listLabs, type OwnedLab } from './up.ts'
