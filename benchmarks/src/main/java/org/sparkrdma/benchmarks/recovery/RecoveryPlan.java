/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.benchmarks.recovery;

import java.io.Serializable;

/**
 * What every application of the benchmark does; handed to it as JSON.
 *
 * @param maps map tasks, each writing a block for each reducer
 * @param blockBytes length of a block before Spark writes it; it does not compress
 * @param killAfter reducers that have ended when the executor is killed
 * @param warmUps jobs before the measured ones
 */
record RecoveryPlan(int maps, int reducers, int blockBytes, int killAfter, int warmUps, long seed)
    implements Serializable {}
