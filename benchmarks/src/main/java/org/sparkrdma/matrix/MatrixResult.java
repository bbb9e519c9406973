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
package org.sparkrdma.matrix;

import java.util.Map;

/**
 * What one application did.
 *
 * @param sparkVersion as Spark itself says
 * @param javaVersion of the driver
 * @param records number of sorted records
 * @param checksum of the sorted records
 * @param inputChecksum of the records before the sort
 * @param sorted whether the output is in order
 * @param sparkRemoteBytes Spark's own count of shuffle bytes read from other executors
 * @param counters the plug-in's counters, summed over executors; empty without the plug-in
 */
public record MatrixResult(
    String sparkVersion,
    String javaVersion,
    long records,
    String checksum,
    String inputChecksum,
    boolean sorted,
    long sparkRemoteBytes,
    Map<String, Long> counters) {}
