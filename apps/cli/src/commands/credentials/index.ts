import { commandGroup } from '../../command.ts'
import { credentialRotate } from '../rotations/rotate.ts'
import { credentialAdd } from './add.ts'
import { credentialDelete } from './delete.ts'
import { credentialGet } from './get.ts'
import { credentialList } from './list.ts'
import { credentialRotateKey } from './rotate-key.ts'
import { credentialTest } from './test.ts'
import { credentialUpdate } from './update.ts'

export const credential = () =>
  commandGroup('credential', [
    credentialList(),
    credentialGet(),
    credentialAdd(),
    credentialUpdate(),
    credentialTest(),
    credentialRotate(),
    credentialRotateKey(),
    credentialDelete(),
  ])
