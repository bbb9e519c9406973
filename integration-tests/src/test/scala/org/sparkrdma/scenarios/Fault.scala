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
package org.sparkrdma.scenarios

/** Something that goes wrong, and what may be said of it.
  *
  * @param plan
  *   as the loopback engine takes it; each executor has one of its own
  * @param must
  *   the reasons for which some blocks must go by TCP
  * @param may
  *   the other reasons for which some may
  * @param settings
  *   without their common prefix
  */
private[scenarios] final case class Fault(
    name: String,
    plan: String,
    must: Set[String] = Set.empty,
    may: Set[String] = Set.empty,
    settings: Map[String, String] = Map.empty
) {
  def costsNothing: Boolean = must.isEmpty && may.isEmpty
}
