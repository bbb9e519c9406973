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
package org.sparkrdma.benchmarks.tera;

import java.util.Map;

/**
 * What one sort did, measured from inside the application.
 *
 * @param seconds wall time of the sort job, sampling and writing included, validation not
 * @param checksum of the sorted output, as Hadoop's TeraChecksum prints it
 * @param sparkRemoteBytes Spark's own count of shuffle bytes read from other executors
 * @param sparkLocalBytes Spark's own count of shuffle bytes read from the task's own executor
 * @param counters the plug-in's counters, summed over executors; empty without the plug-in
 * @param executorCpuSeconds CPU time of each executor process up to the end of the sort
 */
public record SortResult(
    double seconds,
    long records,
    String checksum,
    long sparkRemoteBytes,
    long sparkLocalBytes,
    Map<String, Long> counters,
    Map<String, Double> executorCpuSeconds) {}
