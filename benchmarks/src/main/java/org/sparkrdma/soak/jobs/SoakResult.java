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
package org.sparkrdma.soak.jobs;

import java.util.List;
import java.util.Map;

/**
 * What the application has done; handed over as JSON.
 *
 * @param jobs that gave the right answer, by name
 * @param readings of the executors' own numbers, in the order they were taken
 * @param objection which job failed or gave a wrong answer, in one sentence; null when nothing was
 */
public record SoakResult(Map<String, Integer> jobs, List<Reading> readings, String objection) {

  /**
   * What an executor said of itself.
   *
   * @param seconds since the application began
   * @param nonHeapBytes that its JVM holds for classes and compiled code
   * @param counters of the plug-in
   */
  public record Reading(
      double seconds, String executor, long nonHeapBytes, Map<String, Long> counters) {}
}
