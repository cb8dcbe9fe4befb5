-- Stands in for LIKWID's C library, so that LIKWID's own likwid-perfctr and likwid.lua run without its processors.
--
-- The file in LIKWID_SCENARIO is a Lua table: processor, group, PUs and a count for each counter and PU. The group's
-- metrics are computed by its own formulas, from LIKWID's group file or from the scenario. A count that is missing is
-- not a number, as in LIKWID where an event could not be set up. What LIKWID prints is then LIKWID's.

local scenario = dofile(os.getenv("LIKWID_SCENARIO"))
local variables, program, pus = {}, nil, {}
local NAN = 0 / 0

local function group_file(group)
    local events, metrics, section = {}, {}, ""
    for line in io.lines(string.format("/usr/share/likwid/perfgroups/%s/%s.txt", scenario.arch, group)) do
        if line:match("^%u+%s*$") then
            section = line:match("^%u+")
        elseif section == "EVENTSET" and line:match("%S") then
            local counter, event = line:match("^(%S+)%s+(%S+)")
            table.insert(events, {counter = counter, event = event})
        elseif section == "METRICS" and line:match("%S") then
            local name, formula = line:match("^(.-)%s+(%S+)%s*$")
            table.insert(metrics, {name = name, formula = formula})
        end
    end
    return {events = events, metrics = metrics}
end

local group = scenario.definition

local function count(event, thread)
    local of_counter = scenario.counts[group.events[event].counter] or {}
    return of_counter[pus[thread]] or NAN
end

local function metric(number, thread)
    local known = {
        time = scenario.time_s,
        inverseClock = 1 / scenario.clock_Hz,
        num_numadomains = scenario.nodes,
        num_sockets = scenario.packages,
    }
    for event, row in ipairs(group.events) do
        known[row.counter] = count(event, thread)
    end
    return assert(load("return " .. group.metrics[number].formula, "formula", "t", known))()
end

local function quoted(word)
    return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- What is asked about the computer.
function likwid_getConfiguration() return {daemonMode = scenario.mode or 1} end
function likwid_getCpuInfo()
    return {name = scenario.type, osname = scenario.name, short_name = scenario.arch, clock = scenario.clock_Hz,
            family = 6, model = 0, stepping = 0, features = "", architecture = "x86_64", perf_version = 0}
end
function likwid_getCpuTopology() return {numHWThreads = 1, threadPool = {}} end
function likwid_getCpuClock() return scenario.clock_Hz end
function likwid_getGroups()
    local found = {}
    for _, name in ipairs(scenario.groups) do
        table.insert(found, {Name = name, Info = "of the scenario", Long = ""})
    end
    return found
end
function likwid_nvSupported() return false end
function likwid_rocmSupported() return false end -- since LIKWID 5.3
function likwid_cpustr_to_cpulist(list)
    pus = {}
    for pu in list:gmatch("%d+") do table.insert(pus, math.tointeger(pu)) end
    return #pus, pus
end

-- Counting: it begins and ends with the program.
function likwid_init() return 0 end
function likwid_addEventSet(name)
    if scenario.refuse then
        io.stderr:write(scenario.refuse .. "\n")
        return -1
    end
    if scenario.warn then io.stderr:write(scenario.warn .. "\n") end
    group = group or group_file(name)
    group.name = name
    return 1
end
function likwid_setupCounters() return 0 end
function likwid_startCounters() return 0 end
function likwid_stopCounters() return 0 end
function likwid_readCounters() return 0 end
function likwid_startClock() return 0 end
function likwid_stopClock() return 0 end
function likwid_getClock() return scenario.time_s end
function likwid_getNumberOfGroups() return 1 end
function likwid_getNumberOfThreads() return #pus end
function likwid_getNumberOfEvents() return #group.events end
function likwid_getNumberOfMetrics() return #group.metrics end
function likwid_getNameOfGroup() return group.name end
function likwid_getNameOfEvent(_, event) return group.events[event].event end
function likwid_getNameOfCounter(_, event) return group.events[event].counter end
function likwid_getNameOfMetric(_, number) return group.metrics[number].name end
function likwid_getRuntimeOfGroup() return scenario.time_s end
function likwid_getResult(_, event, thread) return count(event, thread) end
function likwid_getMetric(_, number, thread) return metric(number, thread) end
function likwid_markerRegionTag() return "" end
function likwid_markerRegionThreads() return 0 end

-- The program: the words between blanks, as parse() in LIKWID's luawid.c takes them apart.
function likwid_setenv(name, value) variables[name] = value end
function likwid_startProgram(command)
    local words = {"exec env"}
    for name, value in pairs(variables) do table.insert(words, quoted(name .. "=" .. value)) end
    for word in command:gmatch("[^ \t\n]+") do table.insert(words, quoted(word)) end
    program = table.concat(words, " ")
    return 1
end
function likwid_checkProgram()
    local _, how, code = os.execute(program)
    return how == "signal" and 128 + code or code, true
end

function sleep() return 0 end
function likwid_access() return -1 end
function likwid_getpid() return 1 end
for _, name in ipairs({"catchSignal", "getSignalState", "sendSignal", "killProgram", "finalize", "putTopology",
                       "putConfiguration", "setVerbosity", "setAccessClientMode"}) do
    _G["likwid_" .. name] = function() return 0 end
end
