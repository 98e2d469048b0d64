/** Real SSH hosts for trying things out: `labUp`, or `given.lab` of `@muster/lab/given` in tests, or `sshFarm` for hundreds. */
export { type ProfileName, profiles } from './profiles.ts'
export type * from './types.ts'
export { labUp, listLabs, type OwnedLab } from './up.ts'
