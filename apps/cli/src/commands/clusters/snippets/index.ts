import { commandGroup } from '../../../command.ts'
import { snippetApply } from './apply.ts'
import { snippetGet, snippetList } from './read.ts'
import { snippetCreate, snippetDelete, snippetUpdate } from './write.ts'

export const clusterSnippet = () =>
  commandGroup('snippet', [
    snippetList(),
    snippetGet(),
    snippetCreate(),
    snippetUpdate(),
    snippetDelete(),
    snippetApply(),
  ]).description('lines of slurm.conf, gres.conf and cgroup.conf that several clusters share')
