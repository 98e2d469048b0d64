/** Output of a Slurm tool that is not what the parser of that tool expects. `message` names the tool's object and what was found. */
export class SlurmOutputError extends Error {
  override name = 'SlurmOutputError'
}
