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
package org.sparkrdma.guest.cluster;

import java.util.Map;

/**
 * What one step of an application gave.
 *
 * @param application name of the application
 * @param step name of the step
 * @param right whether the answer was that of vanilla Spark
 * @param seconds wall time
 * @param rdmaBytes blocks by READ, as our counters say; -1 where executors were lost
 * @param tcpBytes blocks by TCP, as our counters say
 * @param remoteBytesRead as Spark's task metrics say
 * @param fallbacks blocks by TCP, by reason
 * @param failedTasks attempts that failed
 */
public record StepResult(
    String application,
    String step,
    boolean right,
    double seconds,
    long rdmaBytes,
    long tcpBytes,
    long remoteBytesRead,
    Map<String, Long> fallbacks,
    int failedTasks) {}
