# SPDX-License-Identifier: BSD-2-Clause
#
# tclsh vivado.tcl SCRIPT [ARGUMENT...]: runs a script for Vivado without Vivado. Knows the
# commands that the scripts of rtl/zu use, which pins a cell has (those of our modules from
# their source), what is connected, and what has to come first; and says at the end what was
# built. Exit status 1: with a sentence.
set script [lindex $argv 0]
set argv [lrange $argv 1 end]
array set kind {}	;# of a cell: an IP's name, or a module's
array set config {}	;# cell,NAME
array set to {}		;# pin -> what drives it, or what it drives
array set files {}
set stage start
set design ""
set address {}
set ran {}

proc wrong {text} {
	puts "wrong: $text"
	exit 1
}

proc need {wanted text} {
	global stage
	if {$stage ne $wanted} {
		wrong "$text: now is $stage, not $wanted"
	}
}

proc option {arguments name} {
	set i [lsearch -exact $arguments $name]
	return [expr {$i < 0 ? "" : [lindex $arguments [expr {$i + 1}]]}]
}

# Ports of a module: "input aclk" and so on.
proc ports {module} {
	global files
	if {![info exists files($module.v)]} {
		wrong "no file of module $module was added"
	}
	set f [open $files($module.v)]
	set text [read $f]
	close $f
	set all {}
	foreach {- way name} [regexp -all -inline -line \
			{^\t(input|output) +(?:wire|reg)[^,]*?([a-z0-9_]+),?(?:[ \t]*//.*)?$} $text] {
		lappend all $way $name
	}
	return $all
}

proc switched {cell name} {
	global config
	return [expr {[info exists config($cell,$name)] && $config($cell,$name)}]
}

# Is there such a pin, or (interface) such a bundle?
proc has_pin {cell pin interface} {
	global kind config
	switch $kind($cell) {
	zynq_ultra_ps_e {
		foreach {name net clock option} {
			M_AXI_HPM0_FPD 0 maxihpm0_fpd_aclk PSU__USE__M_AXI_GP0
			M_AXI_HPM0_LPD 0 maxihpm0_lpd_aclk PSU__USE__M_AXI_GP2
			S_AXI_HPC0_FPD 0 saxihpc0_fpd_aclk PSU__USE__S_AXI_GP0
			S_AXI_HPC1_FPD 0 saxihpc1_fpd_aclk PSU__USE__S_AXI_GP1
			- 0 pl_ps_irq0 PSU__USE__IRQ0
			- 0 pl_clk0 PSU__FPGA_PL0_ENABLE
		} {
			if {$pin eq [expr {$interface ? $name : $clock}]} {
				return [switched $cell $option]
			}
		}
		return [expr {!$interface && $pin eq "pl_resetn0"}]
	}
	proc_sys_reset {
		return [expr {!$interface && $pin in {slowest_sync_clk ext_reset_in
			interconnect_aresetn peripheral_aresetn}}]
	}
	smartconnect {
		if {$interface} {
			return [expr {$pin eq "S00_AXI" || ([scan $pin M%d_AXI n] == 1 &&
				$n < $config($cell,NUM_MI))}]
		}
		return [expr {$pin in {aclk aresetn}}]
	}
	xlconcat {
		return [expr {!$interface && ($pin eq "dout" || ([scan $pin In%d n] == 1 &&
			$n < $config($cell,NUM_PORTS)))}]
	}
	}
	foreach {way name} [ports $kind($cell)] {
		if {$interface ? [regexp "^${pin}_(awaddr|tdata)\$" $name] : $name eq $pin} {
			return 1
		}
	}
	return 0
}

proc pin {path interface} {
	global kind
	lassign [split $path /] cell pin
	if {![info exists kind($cell)] || ![has_pin $cell $pin $interface]} {
		wrong "no [expr {$interface ? {interface} : {pin}}] $path"
	}
	return $path
}

proc join_pins {a b fan} {
	global to
	if {[info exists to($b)] || (!$fan && [info exists to($a)])} {
		wrong "$a or $b is connected already"
	}
	set to($b) $a
	if {!$fan} {
		set to($a) $b
	}
}

proc new_cell {args} {
	global kind stage
	need design "a cell"
	set name [lindex $args end]
	if {[info exists kind($name)]} {
		wrong "two cells $name"
	}
	if {[option $args -type] eq "module"} {
		set kind($name) [option $args -reference]
		ports $kind($name)
	} else {
		set kind($name) [lindex [split [option $args -vlnv] :] 2]
		if {$kind($name) ni {zynq_ultra_ps_e proc_sys_reset smartconnect xlconcat}} {
			wrong "no IP $kind($name)"
		}
	}
}

proc set_property {args} {
	global config kind
	if {[lindex $args 0] eq "-dict"} {
		lassign $args - pairs object
	} else {
		lassign $args name value object
		set pairs [list $name $value]
	}
	if {$object eq ""} {
		wrong "a property of nothing: $args"
	}
	foreach {name value} $pairs {
		if {![regsub {^CONFIG\.} $name {} short]} {
			continue
		}
		if {[regexp {^fl_} $kind($object)]} {
			global files
			set f [open $files($kind($object).v)]
			set found [regexp "\tparameter $short = " [read $f]]
			close $f
			if {!$found} {
				wrong "$kind($object) has no parameter $short"
			}
		}
		set config($object,$short) $value
	}
}

proc unknown {command args} {
	global stage design kind files address ran
	lappend ran $command
	switch $command {
	create_project { need start "a project"; set stage project }
	get_board_parts { return [list [string map {* 1.2} [lindex $args end]] \
				[string map {* 1.10} [lindex $args end]]] }
	current_project - current_fileset { return $command }
	add_files {
		foreach f [lindex $args end] {
			if {$f ne "wrapper.v" && ![file exists $f]} {
				wrong "no file $f"
			}
			set files([file tail $f]) $f
		}
	}
	get_files { return $args }
	update_compile_order {}
	create_bd_design { need project "a design"; set stage design; set design $args }
	create_bd_cell { new_cell {*}$args }
	apply_bd_automation { need design "a preset" }
	get_bd_cells {
		if {![info exists kind($args)]} {
			wrong "no cell $args"
		}
		return $args
	}
	get_bd_pins { return [pin $args 0] }
	get_bd_intf_pins { return [pin $args 1] }
	connect_bd_net { join_pins {*}$args 1 }
	connect_bd_intf_net { join_pins {*}$args 0 }
	get_bd_addr_spaces { return $args }
	get_bd_addr_segs { pin [file dirname $args] 1; return $args }
	assign_bd_address {
		need design "addresses"
		if {[llength $args]} {
			lappend address [lindex $args end] [option $args -offset] \
				[option $args -range]
		}
	}
	validate_bd_design { need design "validation"; set stage validated }
	save_bd_design { need validated "saving" }
	make_wrapper { need validated "a wrapper"; return wrapper.v }
	launch_runs { need validated "a run"; set stage runs }
	wait_on_run { need runs "waiting"; set stage done }
	get_runs { return $args }
	get_property { return 100% }
	write_hw_platform { need done "the result"; set stage written }
	default { wrong "Vivado has no command $command" }
	}
}

source $script
need written "the end"

foreach cell [lsort [array names kind]] {
	if {![regexp {^fl_} $kind($cell)]} {
		continue
	}
	# Inputs that nothing drives.
	foreach {way name} [ports $kind($cell)] {
		if {$way ne "input"} {
			continue
		}
		set bundle [regsub {_(ar|aw|w|r|b|t)[a-z]+$} $name {}]
		if {![info exists to($cell/$name)] && ![info exists to($cell/$bundle)]} {
			puts "open $cell/$bundle"
		}
	}
	if {$kind($cell) eq "fl_zu_top"} {
		puts "port $cell $to($cell/m_axi) PORT $config($cell,PORT)"
		foreach irq {irq_fault irq_event irq_firmware} {
			foreach p [array names to irq/In*] {
				if {$to($p) eq "$cell/$irq"} {
					puts "line $cell/$irq [string range $p 6 end]"
				}
			}
		}
	}
}
foreach {segment offset range} $address {
	puts [format "window %s 0x%x 0x%x" $segment $offset $range]
}
puts "part [llength $ran] commands"
