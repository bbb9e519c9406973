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
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step

/** What takes the RDMA of an executor away for good. */
private[faults] object LastFaults {
  val all: Seq[FaultPoint] = seeded(
    Seq(
      FaultPoint(
        "the completion queue overruns",
        "from then on all blocks of this executor go by TCP",
        Seq(rule(Step.READ, Act.OVERRUN, chance = 0.2, most = 1)),
        counts = Set("fallback.stopped"),
        // The executor withdraws its endpoint.
        may = Set("unavailable", "no-endpoint"),
        onOne = true,
        after = FaultPoint.Replace
      ),
      FaultPoint(
        "the device is removed",
        "RDMA is off in this executor, all its blocks go by TCP",
        Seq(rule(Step.READ, Act.REMOVE_DEVICE, chance = 0.2, most = 1)),
        counts = Set("fallback.stopped"),
        may = Set("unavailable", "no-endpoint"),
        onOne = true,
        after = FaultPoint.Nothing
      )
    )
  )
}
