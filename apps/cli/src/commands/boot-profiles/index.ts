import { commandGroup } from '../../command.ts'
import { bootProfileAssign, bootProfileUnassign } from './assign.ts'
import { bootProfileDiff, bootProfileHistory, bootProfileRestore } from './history.ts'
import { bootProfileGet, bootProfileList } from './read.ts'
import { bootProfileCreate, bootProfileDelete, bootProfileUpdate } from './write.ts'

export const bootProfile = () =>
  commandGroup('boot-profile', [
    bootProfileList(),
    bootProfileGet(),
    bootProfileCreate(),
    bootProfileUpdate(),
    bootProfileDelete(),
    bootProfileHistory(),
    bootProfileDiff(),
    bootProfileRestore(),
    bootProfileAssign(),
    bootProfileUnassign(),
  ])
