import './scalars.ts'
import './errors.ts'
